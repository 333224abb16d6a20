// What the report holds, and the events of a run.

const REPORT = JSON.parse(document.getElementById("report-data").textContent);

/** The kinds of event that are shown and hidden together, by the beginnings of their names. */
const CATEGORIES = [
  { id: "call", label: "Calls", prefixes: ["tool.", "program."] },
  { id: "model", label: "Models", prefixes: ["model."] },
  { id: "operation", label: "Operations", prefixes: ["operation.", "activation.", "journal."] },
  { id: "approval", label: "Approvals", prefixes: ["approval.", "tool.pending"] },
  { id: "effect", label: "Effects", prefixes: ["effect.", "mark"] },
  { id: "network", label: "Network", prefixes: ["network.", "link."] },
  { id: "disk", label: "Disks", prefixes: ["disk."] },
  { id: "host", label: "Hosts", prefixes: ["host.", "clock.", "run."] },
  { id: "fault", label: "Faults", prefixes: ["fault.", "world."] },
  { id: "failure", label: "Failures", prefixes: ["assertion.", "failure"] },
];

/** The name of what the report itself adds: a failure that no event tells. */
const FAILURE = "failure";

const SEQUENCE = 0;
const SECONDS = 1;
const NANOSECONDS = 2;
const HOST = 3;
const RUN = 4;
const CALL = 5;
const PARENT = 6;
const SHAPE = 7;
const FIRST_VALUE = 8;

function categoryOf(type) {
  // The longest beginning decides: a pending call is an approval.
  let found = 0;
  let length = -1;
  CATEGORIES.forEach((category, index) => {
    for (const prefix of category.prefixes) {
      if (prefix.length > length && type.startsWith(prefix)) {
        found = index;
        length = prefix.length;
      }
    }
  });
  return found;
}

/** The events of one run, read from rows of numbers and values. */
class Trace {
  constructor(run) {
    this.strings = run.trace.strings;
    this.shapes = run.trace.shapes.map(([type, ...keys]) => ({ type, keys, category: categoryOf(type) }));
    this.rows = run.trace.events.slice();
    this.focus = run.focus;
    this.skipped = run.skipped;
    this.addFailures(run);
    this.length = this.rows.length;
    this.times = Float64Array.from(this.rows, (row) => row[SECONDS] + row[NANOSECONDS] / 1e9);
    this.categories = Uint8Array.from(this.rows, (row) => this.shapes[row[SHAPE]].category);
    this.hasHosts = run.trace.events.some((row) => row[HOST] >= 0);
    this.texts = [];
  }

  /** What is only found once a run is over stands at its end. */
  addFailures(run) {
    const untold = run.failures.filter((failure) => failure.event === null);
    if (untold.length === 0) {
      return;
    }
    const shape = this.shapes.push({ type: FAILURE, keys: ["message"], category: categoryOf(FAILURE) }) - 1;
    const [seconds, nanoseconds] = run.elapsed;
    for (const failure of untold) {
      this.rows.push([this.rows.length, seconds, nanoseconds, -1, -1, -1, -1, shape, failure.message]);
    }
    if (this.focus === null) {
      this.focus = this.rows.length - untold.length;
    }
  }

  type(index) {
    return this.shapes[this.rows[index][SHAPE]].type;
  }

  category(index) {
    return CATEGORIES[this.categories[index]];
  }

  string(index, column) {
    const place = this.rows[index][column];
    return place < 0 ? "" : this.strings[place];
  }

  host(index) {
    return this.string(index, HOST) || (this.hasHosts ? "world" : "run");
  }

  /** The event's data by name. */
  data(index) {
    const row = this.rows[index];
    const { keys } = this.shapes[row[SHAPE]];
    return Object.fromEntries(keys.map((key, place) => [key, row[FIRST_VALUE + place]]));
  }

  /** One value of the event's data. */
  value(index, key) {
    const row = this.rows[index];
    const place = this.shapes[row[SHAPE]].keys.indexOf(key);
    return place < 0 ? undefined : row[FIRST_VALUE + place];
  }

  /** The time with all its digits. */
  clock(index) {
    const row = this.rows[index];
    return `${row[SECONDS]}.${String(row[NANOSECONDS]).padStart(9, "0")}`;
  }

  /** What the event says, on one line. */
  summary(index) {
    const row = this.rows[index];
    const { keys } = this.shapes[row[SHAPE]];
    return keys.map((key, place) => `${key}=${plain(row[FIRST_VALUE + place])}`).join(" ");
  }

  /** Whose event it is. */
  whose(index) {
    const call = this.string(index, CALL);
    const run = this.string(index, RUN);
    return call ? `${run}/${call}` : run;
  }

  /** Everything that a search looks at, in small letters; made once. */
  text(index) {
    this.texts[index] ??= [
      this.type(index), this.host(index), this.whose(index), this.string(index, PARENT), this.summary(index),
    ].join(" ").toLowerCase();
    return this.texts[index];
  }

  /** The event as a line of a trace. */
  json(index) {
    const row = this.rows[index];
    const event = { sequence: row[SEQUENCE], at_s: this.clock(index) };
    for (const [name, column] of [["host", HOST], ["run_id", RUN], ["call_id", CALL], ["parent_id", PARENT]]) {
      if (row[column] >= 0) {
        event[name] = this.strings[row[column]];
      }
    }
    return { ...event, type: this.type(index), data: this.data(index) };
  }
}

/** A value without quotation marks where none are needed. */
function plain(value) {
  return typeof value === "string" && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}

/** A length of time as people read it. */
function duration(seconds) {
  const units = [[86400, "d"], [3600, "h"], [60, "min"]];
  for (const [length, unit] of units) {
    if (seconds >= length * 2) {
      return `${trimmed(seconds / length, 1)} ${unit}`;
    }
  }
  if (seconds >= 1 || seconds === 0) {
    return `${trimmed(seconds, seconds >= 10 ? 1 : 3)} s`;
  }
  return seconds >= 1e-3 ? `${trimmed(seconds * 1e3, 2)} ms` : `${trimmed(seconds * 1e6, 2)} µs`;
}

function trimmed(number, digits) {
  return String(Number(number.toFixed(digits)));
}

/** How many there are, with the right word. */
function counted(count, one, many = `${one}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}
