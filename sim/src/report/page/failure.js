// What failed in a run, what led there, and what repeats it.

function showFailure(run, onEvent) {
  const panel = document.getElementById("failure");
  const hasSomething = run.failures.length + run.commands.length + run.faults.length + run.snippets.length > 0;
  panel.hidden = !hasSomething;
  panel.classList.toggle("failed", !run.passed);
  document.getElementById("failure-title").textContent = run.passed ? "This run" : "What failed";
  document.getElementById("failures").replaceChildren(...run.failures.map((failure) => failureItem(failure, onEvent)));
  document.getElementById("commands").replaceChildren(...run.commands.flatMap(({ label, text }) =>
    [element("h3", {}, label), copyable(label, text)]));
  document.getElementById("faults").replaceChildren(...faultsOf(run, onEvent));
  document.getElementById("snippets").replaceChildren(...run.snippets.map(({ label, text }) =>
    element("details", {}, element("summary", {}, label), copyable(label, text, true))));
}

function failureItem({ message, event }, onEvent) {
  const text = element("p", { class: "message" }, message);
  if (event === null) {
    return text;
  }
  const button = element("button", { type: "button", onclick: () => onEvent(event) }, "Show the event");
  return element("div", { class: "row" }, text, button);
}

function faultsOf(run, onEvent) {
  if (run.faults.length + run.undelivered.length === 0) {
    return [];
  }
  const rows = run.faults.map((fault) => [
    fault.event === null ? fault.kind
      : element("button", { type: "button", class: "link", onclick: () => onEvent(fault.event) }, fault.kind),
    `${fault.at} s`, fault.host, element("code", {}, fault.when), element("code", {}, fault.action),
  ]);
  const missed = run.undelivered.map((fault) => [fault.kind, "did not come", fault.why, element("code", {}, fault.when), element("code", {}, fault.action)]);
  const columns = ["Fault", "At", "On", "When", "What"].map((label) => ({ label }));
  return [table("Faults of this run", columns, [...rows, ...missed])];
}
