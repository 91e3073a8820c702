/** One call of a tool. */
export type CallTool = (number: number) => Promise<unknown>;

/** Cost of calls. */
export interface CallCost {
  readonly p50Us: number;
  readonly p99Us: number;
  /** CPU time of the whole process per call, including delivery. */
  readonly cpuUs: number;
}

/** Calls between two turns of the event loop, as in an agent that also does other work. */
const pauseEvery = 10;

/** Times calls one by one, then waits for delivery, and measures the CPU time of everything. */
export async function measureCalls(
  call: CallTool,
  flush: () => Promise<unknown>,
  calls: number,
): Promise<CallCost> {
  const times = new Float64Array(calls);
  const cpuBefore = process.cpuUsage();
  for (let number = 0; number < calls; number += 1) {
    const startedAt = process.hrtime.bigint();
    await call(number);
    times[number] = Number(process.hrtime.bigint() - startedAt) / 1000;
    if (number % pauseEvery === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await flush();
  const { user, system } = process.cpuUsage(cpuBefore);
  times.sort();
  return {
    p50Us: times[Math.floor(calls * 0.5)] as number,
    p99Us: times[Math.floor(calls * 0.99)] as number,
    cpuUs: (user + system) / calls,
  };
}
