// One call of a three-field tool with the parts that Vercel's AI SDK takes it through: parse, validate, execute.

import { executeTool, parseJSON, safeValidateTypes } from "@ai-sdk/provider-utils";
import { asSchema, tool } from "ai";
import { z } from "zod";

const WARM_UP = 2_000;
const CALLS = 10_000;
const TEXT = '{"to": "bob", "amount": 1999, "memo": "second attempt, see ticket 7"}';
const transfer = tool({
  description: "Sends an amount to a person.",
  inputSchema: z.object({ to: z.string(), amount: z.int(), memo: z.string().nullable().optional() }),
  execute: async ({ amount }) => `sent ${amount}`,
});
const schema = asSchema(transfer.inputSchema);

async function call() {
  const checked = await safeValidateTypes({ value: await parseJSON({ text: TEXT }), schema });
  if (!checked.success) throw checked.error;
  let output;
  const options = { toolCallId: "call_1", messages: [] };
  for await (const part of executeTool({ execute: transfer.execute, tool: transfer, input: checked.value, options })) {
    output = part.output;
  }
  if (output !== "sent 1999") throw new Error(`unexpected output: ${output}`);
}

const times = [];
for (let index = 0; index < WARM_UP + CALLS; index += 1) {
  const begun = process.hrtime.bigint();
  await call();
  if (index >= WARM_UP) times.push(Number(process.hrtime.bigint() - begun) / 1_000);
}
times.sort((a, b) => a - b);
console.log(JSON.stringify({ median: times[CALLS / 2], p95: times[(CALLS * 95) / 100], calls: CALLS }));
