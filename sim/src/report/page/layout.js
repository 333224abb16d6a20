// What the timeline draws: a lane for each host, in it rows of spans, and messages between lanes.

const HEAD_HEIGHT = 28;
const ROW_HEIGHT = 19;
const LANE_PADDING = 10;
/** How many rows a depth of a lane may have; what does not fit shares the last one. */
const ROWS_MAX = 8;
/** Spans that enclose others stand above them. */
const DEPTHS = { activation: 0, program: 0, operation: 1, model: 2, call: 2 };
const DEPTH_COUNT = 3;

/** Reads a trace from its beginning to its end, and notes what goes on. */
class Layout {
  constructor(trace) {
    this.trace = trace;
    this.lanes = [];
    this.laneOf = new Uint16Array(trace.length);
    this.lanesByHost = new Map();
    this.messages = [];
    this.partner = new Map();
    this.open = new Map();
    this.streams = new Map();
    for (let index = 0; index < trace.length; index += 1) {
      const lane = this.lane(trace.host(index));
      this.laneOf[index] = lane.number;
      lane.events.push(index);
      const type = trace.type(index);
      if (SIGNS[type] !== undefined) {
        lane.signs.push(index);
      }
      HANDLERS[type]?.(this, index, lane);
    }
    this.closeAll(trace.length - 1);
    this.place();
    this.indexMessages();
  }

  lane(host) {
    let lane = this.lanesByHost.get(host);
    if (lane === undefined) {
      lane = { host, number: this.lanes.length, events: [], signs: [], spans: [], lives: [], rows: [], top: 0, height: 0 };
      this.lanesByHost.set(host, lane);
      this.lanes.push(lane);
    }
    return lane;
  }

  key(lane, kind, name) {
    return `${lane.number}\n${kind}\n${name}`;
  }

  begin(lane, kind, name, index, label) {
    const key = this.key(lane, kind, name);
    this.finish(lane, kind, name, index, "lost");
    const span = { kind, key, label, lane: lane.number, from: index, to: -1, state: "open", parts: [] };
    this.open.set(key, span);
    lane.spans.push(span);
    return span;
  }

  current(lane, kind, name) {
    return this.open.get(this.key(lane, kind, name));
  }

  finish(lane, kind, name, index, state) {
    const span = this.current(lane, kind, name);
    if (span !== undefined) {
      this.close(span, index, state);
    }
  }

  close(span, index, state) {
    span.to = index;
    span.state = state;
    this.endPart(span, index);
    this.open.delete(span.key);
  }

  /** What a span does from here on. */
  part(span, kind, index, until) {
    if (span !== undefined) {
      this.endPart(span, index);
      span.parts.push({ kind, from: index, to: -1, until });
    }
  }

  endPart(span, index) {
    const last = span.parts.at(-1);
    if (last !== undefined && last.to < 0) {
      last.to = index;
    }
  }

  /** What runs on a host ends with its life. */
  closeLane(lane, index) {
    for (const span of [...this.open.values()]) {
      if (span.lane === lane.number) {
        this.close(span, index, "lost");
      }
    }
    for (const key of [...this.streams.keys()]) {
      const [from, to] = key.split("\n");
      if (from === lane.host || to === lane.host) {
        this.streams.delete(key);
      }
    }
  }

  /** An attempt that is over leaves nothing running: its operations, and if no other attempt is there, their calls. */
  closeWithin(lane, activation, index) {
    const open = [...this.open.values()].filter((span) => span.lane === lane.number);
    const isAlone = !open.some((span) => span.kind === "activation");
    for (const span of open) {
      const isInside = isAlone ? span.kind !== "program" : span.within === activation;
      if (isInside) {
        this.close(span, index, "lost");
      }
    }
  }

  closeAll(index) {
    for (const span of [...this.open.values()]) {
      this.close(span, index, "open");
    }
    for (const lane of this.lanes) {
      const life = lane.lives.at(-1);
      if (life !== undefined && life.to < 0) {
        life.to = index;
      }
    }
  }

  live(lane, state, index) {
    const last = lane.lives.at(-1);
    if (last !== undefined && last.to < 0) {
      last.to = index;
    }
    if (state !== null) {
      lane.lives.push({ state, from: index, to: -1 });
    }
  }

  send(from, to, bytes, index) {
    const key = `${from}\n${to}`;
    const stream = this.streams.get(key) ?? [];
    stream.push({ index, left: bytes });
    this.streams.set(key, stream);
  }

  /** Bytes come in the order in which they were sent: an arrow goes to the receipt of the first of them. */
  receive(from, to, bytes, index) {
    const stream = this.streams.get(`${from}\n${to}`) ?? [];
    let left = bytes;
    while (left > 0 && stream.length > 0) {
      const sent = stream[0];
      if (!this.partner.has(sent.index)) {
        this.messages.push({ from: sent.index, to: index });
        this.partner.set(sent.index, index);
        this.partner.set(index, sent.index);
      }
      const taken = Math.min(left, sent.left);
      sent.left -= taken;
      left -= taken;
      if (sent.left === 0) {
        stream.shift();
      }
    }
  }

  cut(one, other) {
    this.streams.delete(`${one}\n${other}`);
    this.streams.delete(`${other}\n${one}`);
  }

  /** Gives each span a row in which it overlaps nothing, and each lane its height. */
  place() {
    let top = 0;
    for (const lane of this.lanes) {
      const depths = Array.from({ length: DEPTH_COUNT }, () => []);
      for (const span of lane.spans) {
        span.rowOfDepth = rowFor(depths[DEPTHS[span.kind]], span);
      }
      const above = depths.map((_, depth) => depths.slice(0, depth).reduce((sum, rows) => sum + rows.length, 0));
      const count = depths.reduce((sum, rows) => sum + rows.length, 0);
      lane.rows = Array.from({ length: count }, () => []);
      for (const span of lane.spans) {
        span.row = above[DEPTHS[span.kind]] + span.rowOfDepth;
        lane.rows[span.row].push(span);
      }
      lane.top = top;
      lane.height = HEAD_HEIGHT + count * ROW_HEIGHT + LANE_PADDING;
      top += lane.height;
    }
    this.height = top;
  }

  /** Lets the messages of a stretch be found: those before a place have all come by then. */
  indexMessages() {
    this.messages.sort((one, other) => one.from - other.from);
    let latest = -1;
    this.latest = Int32Array.from(this.messages, (message) => {
      latest = Math.max(latest, message.to);
      return latest;
    });
  }

  /** The messages that are under way between two events. */
  messagesBetween(first, last) {
    const found = [];
    for (let place = firstAtLeast(this.latest, first); place < this.messages.length; place += 1) {
      const message = this.messages[place];
      if (message.from > last) {
        break;
      }
      if (message.to >= first) {
        found.push(message);
      }
    }
    return found;
  }
}

function rowFor(rows, span) {
  const free = rows.findIndex((end) => end <= span.from);
  if (free >= 0) {
    rows[free] = span.to;
    return free;
  }
  if (rows.length < ROWS_MAX) {
    return rows.push(span.to) - 1;
  }
  rows[ROWS_MAX - 1] = Math.max(rows[ROWS_MAX - 1], span.to);
  return ROWS_MAX - 1;
}
