// The tools of the comparison as a plugin of DeepSeek Harness. Environment: PEERS_RAN, the file that runs are noted in;
// PEERS_BEST, where the best documented options are asked for.

import { appendFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { defineTool } from "@deepseek-ai/dsh-tools";

export const name = "peers-tools";
export const inject = ["tools"];

const text = { type: "string" };
const render = (_, value) => [{ type: "text", text: typeof value === "string" ? value : JSON.stringify(value) }];
const object = (properties) => ({ type: "object", properties, additionalProperties: false });
const required = (type, more = {}) => ({ type, required: true, ...more });

export function apply(ctx) {
  const register = (name, description, parameters, act, schema = text) => {
    const execute = async (args, { signal }) => {
      appendFileSync(process.env.PEERS_RAN, JSON.stringify({ tool: name, arguments: JSON.stringify(args) }) + "\n");
      return await act(args, signal);
    };
    const options = process.env.PEERS_BEST ? { timeoutMs: 1_000 } : {};
    ctx.tools.register(defineTool({ name, description, parameters, output: { schema, render }, execute, ...options }));
  };
  register(
    "transfer",
    "Sends an amount to a person.",
    { to: required("string"), amount: required("integer"), memo: { oneOf: [{ type: "string" }, { type: "null" }] } },
    ({ amount }) => `sent ${amount}`,
  );
  register(
    "refund",
    "Pays an order back.",
    { order: required("string"), currency: required("string", { enum: ["EUR", "USD"] }), cents: required("integer") },
    () => "paid back",
  );
  register("get_ad", "Reads an advertisement.", { id: required("integer") }, () => "an advertisement");
  register("convert", "Converts a value.", { value: required("number") }, () => "converted");
  register(
    "set_todos",
    "Writes the list of things to do.",
    { todos: required("array", { items: text }), note: required("string") },
    () => "written",
  );
  register("ping", "Answers.", {}, () => "pong");
  register("stats", "Computes a mean.", {}, () => ({ mean: NaN }), object({ mean: required("number") }));
  register(
    "shape",
    "Returns a receipt.",
    {},
    () => ({ unexpected: "of another shape" }),
    object({ id: required("string") }),
  );
  register("leak", "Looks something up.", {}, () => {
    throw new Error("no access with sk-live-EXAMPLE at /srv/app/internal.py");
  });
  // Ends when it is told to, as a well-behaved handler does.
  register("slow", "Takes its time.", {}, (_, signal) => setTimeout(20_000, "late", { signal }));
  register("huge", "Returns much.", {}, () => "x".repeat(5_000_000));
}
