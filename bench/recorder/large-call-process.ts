// One call with 5 MB of arguments, or of results, after a warm-up: measures the event-loop stall.
// `URL [arguments|results] [origins]`
import { Recorder } from '@actlog/recorder';
import { watchStalls } from './stalls.ts';

/** Cost of a large call. */
export interface LargeCallCost {
  readonly longestStallMs: number;
  readonly durationMs: number;
}

const [url = '', large = 'arguments', origins] = process.argv.slice(2);
const recorder = new Recorder({
  apiKey: 'al_test_benchmark',
  baseURL: url,
  agentId: 'benchmark',
  spool: false,
  origins: origins === 'origins',
});

function largeArguments(seed: number): object {
  const rows = Array.from({ length: 45_000 }, (_, index) => ({
    id: index + seed,
    name: `row ${index}`,
    tags: ['a', 'b'],
    value: index / 3,
    note: 'x'.repeat(30),
  }));
  return { rows };
}

async function call(value: object): Promise<void> {
  if (large === 'arguments') {
    await recorder.toolCall({ toolName: 'import', arguments: value }, async () => 'ok');
  } else {
    await recorder.toolCall({ toolName: 'export', arguments: { table: 'rows' } }, async () => value);
  }
}

await call(largeArguments(0));
await recorder.flush();
const args = largeArguments(1);
globalThis.gc?.();
await new Promise((resolve) => setImmediate(resolve));
const stalls = watchStalls();
await new Promise((resolve) => setImmediate(resolve));
const startedAt = performance.now();
await call(args);
const durationMs = performance.now() - startedAt;
// Results are read in the turns after the call.
for (let turns = 5; turns > 0; turns -= 1) await new Promise((resolve) => setTimeout(resolve, 1));
process.send?.({ longestStallMs: stalls.stop(), durationMs } satisfies LargeCallCost);
await recorder.flush();
process.exit();
