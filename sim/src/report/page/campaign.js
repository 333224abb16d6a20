// What many runs add up to.

function showCampaigns(campaigns, onRun) {
  const section = document.getElementById("campaigns");
  section.hidden = campaigns.length === 0;
  section.replaceChildren(...campaigns.map((campaign, place) => campaignPanel(campaign, place, onRun)));
}

function campaignPanel(campaign, place, onRun) {
  const id = `campaign-${place}`;
  const parts = [
    tiles(campaign.facts),
    outcomes(campaign),
    distributions(campaign),
    coverage(campaign),
    faultCounts(campaign),
    assertions(campaign),
    cases(campaign, onRun),
    slowest(campaign, onRun),
  ];
  return element("section", { class: "panel", "aria-labelledby": id }, element("h2", { id }, campaign.name),
    ...parts.filter((part) => part !== null));
}

function tiles(facts) {
  return facts.length === 0 ? null : element("dl", { class: "tiles" }, ...facts.map(({ label, value }) => fact(label, grouped(value))));
}

/** A whole number with its thousands apart; any other text as it is. */
function grouped(text) {
  return /^\d{1,15}$/.test(text) ? Number(text).toLocaleString("en") : text;
}

function shareOf(part, all) {
  return all === 0 ? "0 %" : `${trimmed((part / all) * 100, 1)} %`;
}

/** A bar that says a share beside its number. */
function shareBar(part, most) {
  const bar = element("span", { class: "share", "aria-hidden": "true" });
  bar.style.width = `${most === 0 ? 0 : Math.max((part / most) * 100, 0.5)}%`;
  return element("span", { class: "share-room" }, bar);
}

function outcomes({ outcomes: list, unit }) {
  if (list.length === 0) {
    return null;
  }
  const all = list.reduce((sum, { count }) => sum + count, 0);
  const most = Math.max(...list.map(({ count }) => count));
  const rows = list.map(({ label, count }) => [label, count.toLocaleString("en"), shareOf(count, all), shareBar(count, most)]);
  const columns = [{ label: "Outcome" }, { label: `${unit[0].toUpperCase()}${unit.slice(1)}s`, isNumber: true }, { label: "Share", isNumber: true }, { label: "" }];
  return table("Outcomes", columns, rows);
}

function distributions({ distributions: list }) {
  const drawn = list.filter(({ count }) => count > 0);
  return drawn.length === 0 ? null : element("div", { class: "charts" }, ...drawn.map(distribution));
}

function distribution({ name, unit, count, min, mean, max, quantiles, buckets }) {
  const number = (value) => (unit === "ns" ? duration(value / 1e9) : trimmed(value, 2));
  const most = Math.max(...buckets.map(([, , inside]) => inside));
  const bars = buckets.map(([from, to, inside]) => {
    const bar = element("i", { title: `${bucketName(from, to, number)}: ${inside.toLocaleString("en")}` });
    bar.style.height = `${inside === 0 ? 0 : Math.max((inside / most) * 100, 2)}%`;
    return bar;
  });
  const said = [["min", min], ["mean", mean], ...quantiles, ["max", max]].map(([label, value]) => fact(label, number(value)));
  return element("figure", {}, element("figcaption", {}, name, " ", element("small", {}, `of ${count.toLocaleString("en")}`)),
    element("div", { class: "bars", "aria-hidden": "true" }, ...bars),
    element("div", { class: "ends", "aria-hidden": "true" }, element("span", {}, number(buckets[0][0])), element("span", {}, number(buckets.at(-1)[1]))),
    element("dl", { class: "quantiles" }, ...said));
}

function bucketName(from, to, number) {
  return from === to ? number(from) : `${number(from)} to ${number(to)}`;
}

function coverage({ coverage: cells }) {
  if (cells.length === 0) {
    return null;
  }
  const events = [...new Set(cells.map(({ event }) => event))].sort();
  const kinds = [...new Set(cells.map(({ fault }) => fault))];
  const byName = new Map(cells.map((cell) => [`${cell.fault}\n${cell.event}`, cell]));
  const head = events.map((event) => element("th", { scope: "col" }, element("span", {}, event)));
  const rows = kinds.map((kind) => element("tr", {}, element("th", { scope: "row" }, kind),
    ...events.map((event) => coverageCell(byName.get(`${kind}\n${event}`)))));
  const caption = "Faults by the events at which they were tried";
  return element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    element("table", { class: "matrix" }, element("caption", {}, caption),
      element("thead", {}, element("tr", {}, element("td"), ...head)), element("tbody", {}, ...rows)),
    element("p", { class: "help" }, "Each cell: how many points were tried. ✕ with a number: so many of them failed. In brackets: nothing came of them."));
}

function coverageCell(cell) {
  if (cell === undefined) {
    return element("td", { class: "none" });
  }
  const { passed, failed, skipped } = cell;
  const said = [[passed, "passed"], [failed, "failed"], [skipped, "did not come"]].filter(([count]) => count > 0);
  const title = said.map(([count, what]) => `${count} ${what}`).join(", ");
  const kind = failed > 0 ? "failed" : passed > 0 ? "passed" : "skipped";
  const text = failed > 0 ? `✕ ${failed}/${passed + failed}` : passed > 0 ? String(passed) : `(${skipped})`;
  return element("td", { class: kind, title, "aria-label": title }, text);
}

function faultCounts({ faults, never_came: never, nowhere_to_come: nowhere }) {
  const parts = [];
  if (faults.length > 0) {
    const most = Math.max(...faults.map(({ count }) => count));
    const rows = faults.map(({ label, count }) => [label, count.toLocaleString("en"), shareBar(count, most)]);
    parts.push(table("Faults that came", [{ label: "Fault" }, { label: "Times", isNumber: true }, { label: "" }], rows));
  }
  for (const [label, kinds] of [["Never came", never], ["Nowhere to come in this run", nowhere]]) {
    if (kinds.length > 0) {
      parts.push(element("p", { class: "help" }, `${label}: ${kinds.join(", ")}`));
    }
  }
  return parts.length === 0 ? null : element("div", {}, ...parts);
}

function assertions({ assertions: list }) {
  if (list.length === 0) {
    return null;
  }
  const rows = list.map(({ name, kind, held, failed, is_broken: isBroken }) => [
    name, kind, held.toLocaleString("en"), failed.toLocaleString("en"),
    element("span", { class: isBroken ? "bad" : "good" }, isBroken ? "✕ broken" : "✓ holds"),
  ]);
  const columns = [{ label: "Assertion" }, { label: "Kind" }, { label: "Held", isNumber: true }, { label: "Failed", isNumber: true }, { label: "Verdict" }];
  return table("Assertions", columns, rows);
}

/** A name that shows its run, where the report has it. */
function runLink(label, run, onRun) {
  return run === null ? label : element("button", { type: "button", class: "link", onclick: () => onRun(run) }, label);
}

function cases({ cases: list }, onRun) {
  if (list.length === 0) {
    return null;
  }
  const rows = list.map(({ name, passed, run, elapsed_ns: elapsed, events, failure }) => [
    runLink(name, run, onRun), element("span", { class: passed ? "good" : "bad" }, passed ? "✓ passed" : "✕ failed"),
    duration(elapsed / 1e9), events.toLocaleString("en"), failure,
  ]);
  const columns = [{ label: "Case" }, { label: "Verdict" }, { label: "Virtual time", isNumber: true }, { label: "Events", isNumber: true }, { label: "Why" }];
  return table("Cases", columns, rows);
}

function slowest({ slowest: list }, onRun) {
  if (list.length === 0) {
    return null;
  }
  const rows = list.map(({ seed, elapsed_ns: elapsed, events, passed, run, command }) => [
    runLink(String(seed), run, onRun), duration(elapsed / 1e9), events.toLocaleString("en"),
    element("span", { class: passed ? "good" : "bad" }, passed ? "✓ passed" : "✕ failed"), copyable(`seed ${seed}`, command),
  ]);
  const columns = [{ label: "Seed" }, { label: "Virtual time", isNumber: true }, { label: "Events", isNumber: true }, { label: "Verdict" }, { label: "Repeat it" }];
  return table("Slowest seeds, in virtual time", columns, rows);
}
