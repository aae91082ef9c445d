// Evaluates flags through the OFREP provider and prints what came, as JSON. Arguments: address, token.
const { OpenFeature } = require("@openfeature/server-sdk");
const { OFREPProvider } = require("@openfeature/ofrep-provider");
const [address, token] = process.argv.slice(2);

async function main() {
  const headers = [["Authorization", `Bearer ${token}`]];
  await OpenFeature.setProviderAndWait(new OFREPProvider({ baseUrl: address, headers }));
  const client = OpenFeature.getClient();
  const seen = {};
  const context = { targetingKey: "user 1", plan: "premium" };
  seen.first = await client.getStringDetails("checkout", "fallback", context);
  seen.again = await client.getStringDetails("checkout", "fallback", context);
  seen.number = await client.getNumberDetails("price", -1, context);
  seen.boolean = await client.getBooleanDetails("banner", false, context);
  seen.paused = await client.getStringDetails("paused", "fallback", context);
  seen.unknown = await client.getStringDetails("unknown", "fallback", context);
  seen.anonymous = await client.getStringDetails("checkout", "fallback", {});
  const body = JSON.stringify({ subject: "user 1", reward: 1 });
  const answer = await fetch(`${address}/experiments/checkout/reward`, { method: "POST", headers, body });
  seen.reward = await answer.json();
  await OpenFeature.setProviderAndWait(new OFREPProvider({ baseUrl: "http://127.0.0.1:9", headers }));
  seen.down = await OpenFeature.getClient().getStringDetails("checkout", "fallback", context);
  console.log(JSON.stringify(seen));
}

main();
