// The data of one event, and the events that belong to it.

class Detail {
  constructor(onSelect) {
    this.element = document.getElementById("detail");
    this.onSelect = onSelect;
  }

  showNothing() {
    this.element.replaceChildren(element("h3", { id: "detail-title" }, "No event selected"),
      element("p", { class: "help" }, "Choose an event in the list or in the timeline."));
  }

  show(trace, layout, index) {
    const facts = this.facts(trace, index);
    const data = Object.entries(trace.data(index)).map(([name, value]) => fact(name, shownValue(value)));
    const parts = [
      element("h3", { id: "detail-title", class: `of-${trace.category(index).id}` }, trace.type(index)),
      element("dl", {}, ...facts, ...data),
      this.related(trace, layout, index),
    ];
    const text = JSON.stringify(trace.json(index), null, 2);
    parts.push(element("details", {}, element("summary", {}, "As JSON"), copyable("the event as JSON", text, true)));
    this.element.replaceChildren(...parts);
  }

  facts(trace, index) {
    const all = [
      ["time", `${trace.clock(index)} s`],
      ["after previous", index > 0 ? duration(trace.times[index] - trace.times[index - 1]) : ""],
      ["host", trace.host(index)],
      ["run", trace.string(index, RUN)],
      ["call", trace.string(index, CALL)],
      ["within", trace.string(index, PARENT)],
    ];
    return all.filter(([, value]) => value !== "").map(([name, value]) => fact(name, value));
  }

  related(trace, layout, index) {
    const found = [
      ["Other end", layout.partner.get(index)],
      ["Previous of this call", neighbour(trace, index, -1)],
      ["Next of this call", neighbour(trace, index, 1)],
    ];
    const buttons = found.filter(([, other]) => other !== undefined).map(([label, other]) =>
      element("button", { type: "button", onclick: () => this.onSelect(other) }, `${label}: ${trace.type(other)}`));
    return element("div", { class: "related" }, ...buttons);
  }
}

function fact(name, value) {
  return element("div", {}, element("dt", {}, name), element("dd", {}, value));
}

function shownValue(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The next event of the same call in a direction. */
function neighbour(trace, index, step) {
  const { rows } = trace;
  const [run, call] = [rows[index][RUN], rows[index][CALL]];
  if (call < 0) {
    return undefined;
  }
  for (let other = index + step; other >= 0 && other < rows.length; other += step) {
    if (rows[other][CALL] === call && rows[other][RUN] === run) {
      return other;
    }
  }
  return undefined;
}
