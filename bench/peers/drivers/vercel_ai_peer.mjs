// Each case through Vercel's AI SDK: generateText with the OpenAI-compatible provider, until the model has nothing more to ask.

import { appendFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, isStepCount, tool } from "ai";
import { z } from "zod";

const RUN_MILLISECONDS = 6_000;
const TIME_OUT_MILLISECONDS = 1_000;

export function tools(ran, best) {
  // `best`: objects that take no other fields, which is for the author of a tool to ask for.
  const object = best ? z.strictObject : z.object;
  const handler = (name, act) => (input, { abortSignal }) => {
    ran.push({ tool: name, arguments: JSON.stringify(input) });
    return act(input, abortSignal);
  };
  const made = (name, description, inputSchema, act, more = {}) =>
    tool({ description, inputSchema, execute: handler(name, act), ...more });
  const none = object({});
  return {
    transfer: made(
      "transfer",
      "Sends an amount to a person.",
      object({ to: z.string(), amount: z.int(), memo: z.string().nullable().optional() }),
      async ({ amount }) => `sent ${amount}`,
    ),
    refund: made(
      "refund",
      "Pays an order back.",
      object({ order: z.string().regex(/^A-[0-9]+$/), currency: z.enum(["EUR", "USD"]), cents: z.int().min(1) }),
      async () => "paid back",
    ),
    get_ad: made("get_ad", "Reads an advertisement.", object({ id: z.int() }), async () => "an advertisement"),
    convert: made("convert", "Converts a value.", object({ value: z.number() }), async () => "converted"),
    set_todos: made(
      "set_todos",
      "Writes the list of things to do.",
      object({ todos: z.array(z.string()), note: z.string() }),
      async () => "written",
    ),
    ping: made("ping", "Answers.", none, async () => "pong"),
    stats: made("stats", "Computes a mean.", none, async () => ({ mean: NaN }), {
      outputSchema: z.object({ mean: z.number() }),
    }),
    shape: made("shape", "Returns a receipt.", none, async () => ({ unexpected: "of another shape" }), {
      outputSchema: z.strictObject({ id: z.string() }),
    }),
    leak: made("leak", "Looks something up.", none, async () => {
      throw new Error("no access with sk-live-EXAMPLE at /srv/app/internal.py");
    }),
    slow: made(
      "slow",
      "Takes its time.",
      none,
      // Ends when it is told to, as a well-behaved handler does.
      async (_, signal) => await setTimeout(20_000, "late", { signal, ref: false }),
    ),
    huge: made("huge", "Returns much.", none, async () => "x".repeat(5_000_000)),
  };
}

export function model(baseURL) {
  return createOpenAICompatible({ name: "scripted", baseURL, apiKey: "none" })("scripted");
}

async function oneCase(baseURL, best) {
  const ran = [];
  let answer = null;
  let crash = null;
  let timer;
  const late = new Promise((_, refuse) => {
    timer = globalThis.setTimeout(refuse, RUN_MILLISECONDS, new Error("still running"));
  });
  try {
    const run = generateText({
      model: model(baseURL),
      tools: tools(ran, best),
      stopWhen: isStepCount(5),
      prompt: "Do it.",
      ...(best ? { timeout: { toolMs: TIME_OUT_MILLISECONDS } } : {}),
    });
    answer = (await Promise.race([run, late])).text;
  } catch (error) {
    crash = error.message === "still running" ? error.message : `${error.name}: ${error.message}`.slice(0, 400);
  }
  clearTimeout(timer);
  return { ran, answer, crash };
}

// Only where this file is the program: the approvals import its tools.
if (process.argv[1] === import.meta.filename) {
  const [mode, url, out, ...cases] = process.argv.slice(2);
  globalThis.AI_SDK_LOG_WARNINGS = false;
  for (const name of cases) {
    const result = await oneCase(`${url}${name}/v1`, mode === "best");
    appendFileSync(out, JSON.stringify({ case: name, ...result }) + "\n");
  }
  process.exit(0);
}
