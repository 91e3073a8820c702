/** One call of a tool. */
export type CallTool = (number: number) => Promise<unknown>;

/** What calls cost. */
export interface CallCost {
  readonly p50Us: number;
  readonly p99Us: number;
  /** CPU of the whole process, delivery included, a call. */
  readonly cpuUs: number;
}

/** Until the code is compiled for good; half as many leave a quarter of the time to the compiler. */
const warmUpCalls = 15_000;

/**
 * Times calls one by one, then waits for delivery, and counts the CPU of all of it.
 *
 * @param pauseEvery - lets the event loop turn after so many calls, as an agent that does other things would
 */
export async function measureCalls(
  call: CallTool,
  flush: () => Promise<unknown>,
  calls: number,
  pauseEvery: number,
): Promise<CallCost> {
  for (let number = 0; number < warmUpCalls; number += 1) {
    await call(number);
    if (number % pauseEvery === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await flush();
  globalThis.gc?.();
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
