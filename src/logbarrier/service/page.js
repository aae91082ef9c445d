// Fetches the picture with the token every few seconds. The token stays in this tab.
const PERIOD = 3000;
const form = document.getElementById("login");
const message = document.getElementById("message");
let timer = null;

async function show() {
  const token = sessionStorage.getItem("token");
  form.hidden = token !== null;
  if (token === null) return;
  try {
    const answer = await fetch("/picture", { headers: { Authorization: `Bearer ${token}` } });
    if (answer.status === 401) {
      sessionStorage.removeItem("token");
      form.hidden = false;
      message.textContent = "This token is not the service's.";
      return;
    }
    if (!answer.ok) throw new Error(`the service answered ${answer.status}`);
    document.getElementById("picture").innerHTML = await answer.text();
    message.textContent = "";
  } catch (error) {
    message.textContent = `No answer: ${error.message}. Trying again.`;
  }
  timer = setTimeout(show, PERIOD);
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("token", document.getElementById("token").value);
  clearTimeout(timer);
  show();
});
show();
