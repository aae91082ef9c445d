// Fetches the part of the page that the address names, with the token, every few seconds. The token stays in this tab.
const PERIOD = 3000;
const form = document.getElementById("login");
const message = document.getElementById("message");
const part = document.getElementById("part");
let timer = null;

function headers() {
  return { Authorization: `Bearer ${sessionStorage.getItem("token")}` };
}

function experiment() {
  return decodeURIComponent(location.hash.slice(1));
}

async function show() {
  clearTimeout(timer);
  const name = experiment();
  form.hidden = sessionStorage.getItem("token") !== null;
  if (!form.hidden) return;
  try {
    const path = name === "" ? "/overview" : `/experiments/${encodeURIComponent(name)}/picture`;
    const answer = await fetch(path, { headers: headers() });
    if (answer.status === 401) {
      sessionStorage.removeItem("token");
      form.hidden = false;
      message.textContent = "This token is not the service's.";
      return;
    }
    if (!answer.ok) throw new Error(`the service answered ${answer.status}`);
    const text = await answer.text();
    if (name !== experiment()) return;
    part.innerHTML = text;
    message.textContent = "";
  } catch (error) {
    message.textContent = `No answer: ${error.message}. Trying again.`;
  }
  timer = setTimeout(show, PERIOD);
}

async function change(button) {
  if (button.dataset.sure && !confirm(`${button.textContent}? An experiment that has ended cannot be started again.`)) return;
  const path = `/experiments/${encodeURIComponent(experiment())}`;
  const type = { "Content-Type": "application/json" };
  const answer = await fetch(path, { method: "PATCH", headers: { ...headers(), ...type }, body: button.dataset.change });
  await show();
  if (!answer.ok) message.textContent = (await answer.json()).error;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("token", document.getElementById("token").value);
  show();
});
part.addEventListener("click", (event) => {
  if (event.target.dataset.change) change(event.target);
});
window.addEventListener("hashchange", () => {
  part.innerHTML = "";
  show();
});
show();
