// The agent of `agent.py`, with nothing but `fetch`.

const REFUND = {
  type: "function",
  function: {
    name: "refund",
    description: "Pays an order back.",
    parameters: { type: "object", properties: { order: { type: "integer" } }, required: ["order"] },
  },
};

// ANCHOR: ask
async function ask(messages) {
  const response = await fetch(`${process.env.OPENAI_BASE_URL}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${process.env.OPENAI_API_KEY}` },
    body: JSON.stringify({ messages, model: "gpt-5.2", tools: [REFUND] }),
  });
  if (!response.ok) throw new Error(`the model answered ${response.status}`);
  return (await response.json()).choices[0].message;
}
// ANCHOR_END: ask

let refunds = 0;

function refund(order) {
  refunds += 1;
  return "19.99 euros went back";
}

const messages = [{ role: "user", content: "Refund order 7." }];
let message = await ask(messages);
while (message.tool_calls) {
  messages.push({ role: "assistant", tool_calls: message.tool_calls });
  for (const call of message.tool_calls) {
    const { order } = JSON.parse(call.function.arguments);
    messages.push({ role: "tool", tool_call_id: call.id, content: refund(order) });
  }
  message = await ask(messages);
}
console.log(message.content);
console.log(`refunds: ${refunds}`);
