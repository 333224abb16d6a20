// What each event means for the layout.

/** A call is known by its run and its id. */
function callOf(trace, index) {
  return trace.whose(index);
}

function toolOf(trace, index) {
  return trace.value(index, "tool");
}

function currentCall(layout, index, lane) {
  return layout.current(lane, "call", callOf(layout.trace, index));
}

function attemptOfProgram(trace, index) {
  return `${trace.whose(index)} ${toolOf(trace, index)} ${trace.value(index, "attempt")}`;
}

function operationOf(trace, index) {
  return `${trace.string(index, PARENT)} ${trace.value(index, "operation")}`;
}

/** How long a wait goes on, as a time of the trace. */
function waitEnd(trace, index) {
  return trace.times[index] + (trace.value(index, "delay_s") ?? 0);
}

const OF_CALLS = {
  "tool.started": (layout, index, lane) => {
    layout.begin(lane, "call", callOf(layout.trace, index), index, toolOf(layout.trace, index));
  },
  "tool.attempt": (layout, index, lane) => layout.part(currentCall(layout, index, lane), "attempt", index),
  "tool.retry": (layout, index, lane) => {
    const call = currentCall(layout, index, lane);
    layout.part(call, "backoff", index, waitEnd(layout.trace, index));
  },
  "tool.finished": (layout, index, lane) => {
    const { trace } = layout;
    const state = trace.value(index, "cached") ? "cached" : trace.value(index, "status");
    layout.finish(lane, "call", callOf(trace, index), index, state);
  },
  "tool.pending": (layout, index, lane) => {
    layout.finish(lane, "call", callOf(layout.trace, index), index, "pending");
  },
  "approval.requested": (layout, index, lane) => layout.part(currentCall(layout, index, lane), "approval", index),
  "approval.decided": (layout, index, lane) => {
    const call = currentCall(layout, index, lane);
    if (call !== undefined) {
      layout.endPart(call, index);
    }
  },
};

const OF_PROGRAMS = {
  "program.started": (layout, index, lane) => {
    const label = layout.trace.value(index, "program") || "program";
    layout.begin(lane, "program", callOf(layout.trace, index), index, label);
  },
  "program.finished": (layout, index, lane) => {
    const { trace } = layout;
    layout.finish(lane, "program", callOf(trace, index), index, trace.value(index, "status"));
  },
  "program.call": (layout, index, lane) => {
    const { trace } = layout;
    const span = layout.begin(lane, "call", attemptOfProgram(trace, index), index, toolOf(trace, index));
    layout.part(span, "attempt", index);
  },
  "program.answer": (layout, index, lane) => {
    const { trace } = layout;
    layout.finish(lane, "call", attemptOfProgram(trace, index), index, trace.value(index, "status"));
  },
  "program.retry": (layout, index, lane) => {
    const { trace } = layout;
    const span = layout.begin(lane, "call", `${attemptOfProgram(trace, index)} wait`, index, "");
    layout.part(span, "backoff", index, waitEnd(trace, index));
    layout.close(span, index, "wait");
    span.until = waitEnd(trace, index);
  },
};

const OF_MODELS = {
  "model.started": (layout, index, lane) => {
    const { trace } = layout;
    const turn = trace.value(index, "turn");
    const name = trace.value(index, "model");
    layout.begin(lane, "model", `${trace.whose(index)} ${turn}`, index, name ? `${name}, turn ${turn}` : `turn ${turn}`);
  },
  "model.finished": (layout, index, lane) => {
    const { trace } = layout;
    const name = `${trace.whose(index)} ${trace.value(index, "turn")}`;
    layout.finish(lane, "model", name, index, trace.value(index, "status"));
  },
};

const OF_WORKFLOWS = {
  "activation.started": (layout, index, lane) => {
    const { trace } = layout;
    const [id, attempt] = [trace.string(index, CALL), trace.value(index, "attempt")];
    const label = attempt > 1 ? `${id}, attempt ${attempt}` : id;
    layout.begin(lane, "activation", trace.whose(index), index, label);
  },
  "activation.finished": (layout, index, lane) => {
    const { trace } = layout;
    layout.finish(lane, "activation", trace.whose(index), index, trace.value(index, "status"));
    layout.closeWithin(lane, trace.string(index, CALL), index);
  },
  "operation.started": (layout, index, lane) => {
    const { trace } = layout;
    const span = layout.begin(lane, "operation", operationOf(trace, index), index, trace.value(index, "operation"));
    span.within = trace.string(index, PARENT);
    layout.part(span, "execute", index);
  },
  "operation.executed": (layout, index, lane) => {
    const span = layout.current(lane, "operation", operationOf(layout.trace, index));
    if (span !== undefined) {
      layout.endPart(span, index);
    }
  },
  "operation.commit": (layout, index, lane) => {
    layout.part(layout.current(lane, "operation", operationOf(layout.trace, index)), "commit", index);
  },
  "operation.committed": (layout, index, lane) => {
    const { trace } = layout;
    layout.finish(lane, "operation", operationOf(trace, index), index, trace.value(index, "status"));
  },
  "operation.replayed": (layout, index, lane) => {
    const { trace } = layout;
    const span = layout.begin(lane, "operation", operationOf(trace, index), index, trace.value(index, "operation"));
    layout.close(span, index, "replayed");
  },
};

const OF_HOSTS = {
  "host.started": (layout, index, lane) => layout.live(lane, "up", index),
  "host.resumed": (layout, index, lane) => layout.live(lane, "up", index),
  "host.paused": (layout, index, lane) => layout.live(lane, "paused", index),
  "host.crashed": (layout, index, lane) => {
    layout.live(lane, null, index);
    layout.closeLane(lane, index);
  },
  "host.power_cut": (layout, index, lane) => {
    layout.live(lane, null, index);
    layout.closeLane(lane, index);
  },
};

const OF_NETWORK = {
  "network.send": (layout, index, lane) => {
    const { trace } = layout;
    layout.send(lane.host, trace.value(index, "to"), trace.value(index, "bytes"), index);
  },
  "network.receive": (layout, index, lane) => {
    const { trace } = layout;
    layout.receive(trace.value(index, "from"), lane.host, trace.value(index, "bytes"), index);
  },
  "link.reset": (layout, index, lane) => layout.cut(lane.host, layout.trace.value(index, "to")),
};

const HANDLERS = { ...OF_CALLS, ...OF_PROGRAMS, ...OF_MODELS, ...OF_WORKFLOWS, ...OF_HOSTS, ...OF_NETWORK };
