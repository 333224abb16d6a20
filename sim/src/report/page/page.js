// The page: which run is shown, which event is selected, and the keys.

class Page {
  constructor() {
    this.timeline = new Timeline((index) => this.select(index));
    this.list = new EventList((index) => this.select(index), () => this.open());
    this.detail = new Detail((index) => this.select(index));
    this.controls = new FilterControls(() => this.refilter());
    this.selected = null;
    this.listen();
    showHeading();
    showLegend();
    showCampaigns(REPORT.campaigns, (run) => this.goTo(run));
    this.showRuns();
  }

  showRuns() {
    const { runs } = REPORT;
    for (const id of ["timeline", "events"]) {
      document.getElementById(id).hidden = runs.length === 0;
    }
    // What failed comes first, and else what all runs add up to.
    if (runs.every(({ passed }) => passed)) {
      document.getElementById("main").prepend(document.getElementById("campaigns"));
    }
    this.chooser = document.getElementById("run");
    this.chooser.replaceChildren(...runs.map(({ name, passed }, place) =>
      element("option", { value: place }, `${passed ? "✓" : "✕"} ${name}`)));
    document.getElementById("runs").hidden = runs.length < 2;
    this.chooser.addEventListener("change", () => this.goTo(Number(this.chooser.value)));
    window.addEventListener("hashchange", () => this.showHash());
    this.showHash();
  }

  /** The address names a run, so that a failure can point to its own. */
  showHash() {
    const asked = Number(/^#run-(\d+)$/.exec(location.hash)?.[1] ?? 1) - 1;
    const place = REPORT.runs[asked] === undefined ? 0 : asked;
    if (REPORT.runs.length > 0 && this.run !== REPORT.runs[place]) {
      this.showRun(place);
    }
  }

  goTo(place) {
    location.hash = `run-${place + 1}`;
    document.getElementById("timeline").scrollIntoView();
  }

  showRun(place) {
    this.run = REPORT.runs[place];
    this.chooser.value = String(place);
    this.trace = new Trace(this.run);
    this.layout = new Layout(this.trace);
    this.filter = new Filter(this.trace);
    document.querySelector("input[name=scale][value=events]").checked = true;
    showFacts(this.run);
    showFailure(this.run, (index) => this.select(index));
    this.controls.show(this.filter, this.layout);
    this.timeline.show(this.trace, this.layout, this.filter);
    this.list.show(this.trace, this.filter);
    this.detail.showNothing();
    const { focus } = this.trace;
    document.getElementById("to-failure").hidden = focus === null;
    this.describe();
    this.timeline.begin(focus);
    if (focus !== null) {
      this.select(focus);
    }
  }

  describe() {
    const lanes = this.layout.lanes.map(({ host }) => host).join(", ");
    const count = counted(this.filter.rows.length, "event");
    document.getElementById("canvas").setAttribute("aria-label", `Timeline of ${count} in the lanes ${lanes}`);
  }

  refilter() {
    this.list.refresh();
    this.timeline.draw();
    this.describe();
  }

  select(index) {
    this.selected = index;
    this.timeline.select(index);
    this.list.select(index);
    this.detail.show(this.trace, this.layout, index);
    announce(`${this.trace.type(index)} at ${this.trace.clock(index)} s on ${this.trace.host(index)}`);
  }

  /** To the data of the event that is selected. */
  open() {
    if (this.selected !== null) {
      const { element: detail } = this.detail;
      detail.scrollIntoView({ block: "nearest" });
      detail.focus({ preventScroll: true });
    }
  }

  /** The event of the next lane that is nearest in time. */
  stepLane(step) {
    if (this.selected === null) {
      this.list.step(1);
      return;
    }
    const { lanes, laneOf } = this.layout;
    for (let number = laneOf[this.selected] + step; lanes[number] !== undefined; number += step) {
      const shown = lanes[number].events.filter((index) => this.filter.shown[index]);
      if (shown.length > 0) {
        const after = Math.min(firstAtLeast(shown, this.selected), shown.length - 1);
        const before = Math.max(after - 1, 0);
        const isBefore = Math.abs(shown[before] - this.selected) < Math.abs(shown[after] - this.selected);
        this.select(shown[isBefore ? before : after]);
        return;
      }
    }
  }

  listen() {
    const on = (id, act) => document.getElementById(id).addEventListener("click", act);
    on("zoom-in", () => this.timeline.zoom(1.6));
    on("zoom-out", () => this.timeline.zoom(1 / 1.6));
    on("fit", () => this.timeline.fit());
    on("to-failure", () => this.select(this.trace.focus));
    for (const choice of document.querySelectorAll("input[name=scale]")) {
      choice.addEventListener("change", () => {
        this.timeline.rescale(choice.value);
        this.timeline.begin(this.selected);
      });
    }
    document.getElementById("canvas").addEventListener("keydown", (event) => this.press(event));
    document.addEventListener("keydown", (event) => this.pressAnywhere(event));
  }

  press(event) {
    const keys = {
      "ArrowRight": () => this.list.step(1),
      "ArrowLeft": () => this.list.step(-1),
      "ArrowDown": () => this.stepLane(1),
      "ArrowUp": () => this.stepLane(-1),
      "Home": () => this.list.step(-Infinity),
      "End": () => this.list.step(Infinity),
      "Enter": () => this.open(),
      "+": () => this.timeline.zoom(1.6),
      "=": () => this.timeline.zoom(1.6),
      "-": () => this.timeline.zoom(1 / 1.6),
      "0": () => this.timeline.fit(),
    };
    if (event.key in keys && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      keys[event.key]();
    }
  }

  pressAnywhere(event) {
    const isTyping = event.target.closest("input[type=search], select, textarea") !== null;
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    if (event.key === "/") {
      event.preventDefault();
      document.getElementById("search").focus();
    } else if (event.key.toLowerCase() === "f" && (this.trace?.focus ?? null) !== null) {
      this.select(this.trace.focus);
    }
  }
}

function showHeading() {
  document.getElementById("title").textContent = REPORT.title;
  const badge = document.getElementById("badge");
  badge.textContent = REPORT.passed ? "✓ passed" : "✕ failed";
  badge.classList.add(REPORT.passed ? "good" : "bad");
}

function showFacts(run) {
  const facts = [["seed", run.seed], ["virtual time", duration(run.elapsed[0] + run.elapsed[1] / 1e9)], ["events", (run.skipped + run.trace.events.length).toLocaleString("en")], ["digest", run.digest.slice(0, 12)]];
  document.getElementById("facts").replaceChildren(...facts.filter(([, value]) => value !== null && value !== "").map(([name, value]) => fact(name, value)));
}

function showLegend() {
  const entries = [
    ["call", "", "call, its attempts darker"], ["backoff", "", "backoff before a retry"], ["model", "", "model"],
    ["operation", "", "operation, its commit below"], ["replayed", "", "↻ replayed or cached"], ["lost", "", "lost or refused"],
    ["activation", "", "activation or program"], ["approval", "", "approval"], ["network", "", "message"],
    ["fault", "◆", "fault"], ["down", "✕", "crash or cut"], ["effect", "●", "effect"], ["flag", "⚑", "failure"],
  ];
  document.getElementById("legend").replaceChildren(...entries.map(([name, sign, text]) =>
    element("li", {}, element("i", { class: `key-${name}`, "aria-hidden": "true" }, sign), text)));
}

new Page();
