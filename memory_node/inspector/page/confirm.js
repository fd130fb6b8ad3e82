// Asks once before an edit, with the fields that it needs; after it, a toast that undoes it.

import { byId, el, metres, nameOf } from "./dom.js";

const STATES = ["heated", "cooked", "sliced", "cleaned", "dirty", "filled", "used_up", "on", "off", "opened", "closed", "cold", "broken"];

function control(field, scene) {
  if (field.states) return el("select", { name: field.name }, el("option", { value: "" }, "(nothing)"), STATES.map((state) => el("option", { value: state }, state.replaceAll("_", " "))));
  if (field.objects) {
    const { id, at } = field.objects;
    const far = (one) => Math.hypot(one.at[0] - at[0], one.at[1] - at[1], one.at[2] - at[2]);
    const others = scene.objects.filter((one) => one.id !== id).sort((a, b) => far(a) - far(b)).slice(0, 100);
    return el("select", { name: field.name, required: true }, others.map((one) => el("option", { value: one.id }, `${nameOf(one)}, ${far(one).toFixed(2)} m away at ${metres(one.at)}`)));
  }
  const list = field.names ? el("datalist", { id: "names" }, field.names.map((name) => el("option", { value: name }))) : null;
  const input = el("input", { type: field.secret ? "password" : "text", name: field.name, value: field.value ?? "", required: true, autocomplete: "off" });
  if (list) input.setAttribute("list", "names");
  return [input, list];
}

function read(field, value) {
  if (field.states) return value ? [value] : [];
  if (field.name !== "position") return value.trim();
  const numbers = value.split(",").map(Number);
  if (numbers.length !== 3 || !numbers.every(Number.isFinite)) throw new Error("expected three numbers: x, y, z");
  return numbers;
}

/** Ask a question with fields in a dialog; return the fields' values, or null when the user does not want to. */
export function ask(question, fields, scene, yes = "Do it") {
  return new Promise((resolve) => {
    const said = el("p", { class: "bad", role: "alert" });
    const form = el("form", { method: "dialog" },
      el("p", {}, question),
      fields.map((field) => el("label", { class: "field" }, field.title, control(field, scene))),
      said,
      el("div", { class: "actions" }, el("button", { class: "main", value: "yes" }, yes), el("button", { value: "no", formnovalidate: true }, "Cancel")));
    const dialog = el("dialog", { "aria-label": question }, form);
    form.addEventListener("submit", (event) => {
      if (event.submitter?.value !== "yes") return;
      try {
        const values = new FormData(form);
        const told = Object.fromEntries(fields.map((field) => [field.name, read(field, values.get(field.name))]));
        resolve(told);
      } catch (error) {
        said.textContent = error.message;
        event.preventDefault();
      }
    });
    dialog.addEventListener("close", () => {
      resolve(null);
      dialog.remove();
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Say something for a while, with a button if there is something to do about it. */
export function toast(text, { action = null, onAction = null, forS = 8 } = {}) {
  const made = el("div", { class: "toast" }, el("span", {}, text));
  const end = () => made.remove();
  if (action) made.append(el("button", { type: "button", click: () => { end(); onAction(); } }, action));
  byId("toasts").append(made);
  setTimeout(end, 1000 * forS);
}
