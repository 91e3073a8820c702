import { median } from './interleaved-rounds.ts';
import { MeasuredProcess } from './measured-process.ts';

/** Plan of an interleaved measurement. */
export interface ShortTurns {
  readonly names: readonly string[];
  /** Returns the program and its arguments for a name. */
  readonly program: (name: string) => readonly [file: string, ...args: string[]];
  /** Work of a name's process until its code is fully compiled. */
  readonly warmUp: (name: string) => number;
  /** Work of a name's process in one turn. */
  readonly turn: (name: string) => number;
  /** Turns of each process. */
  readonly turns: number;
  /** Consecutive processes per name: the speed of processes varies. */
  readonly generations: number;
  readonly afterTurns?: () => Promise<void>;
}

/**
 * Measures concurrent processes in short turns, so that other load affects all alike; the order changes with
 * every turn.
 * Compare values within a turn: {@link medianAbove}.
 */
export async function takeShortTurns<Cost>(plan: ShortTurns): Promise<ReadonlyMap<string, readonly Cost[]>> {
  const costs = new Map<string, Cost[]>(plan.names.map((name) => [name, []]));
  for (let generation = 0; generation < plan.generations; generation += 1) {
    const processes: { readonly name: string; readonly measured: MeasuredProcess<Cost> }[] = [];
    try {
      for (const name of plan.names) {
        processes.push({ name, measured: await MeasuredProcess.start<Cost>(...plan.program(name)) });
      }
      for (const { name, measured } of processes) await measured.work(plan.warmUp(name));
      for (let turn = 0; turn < plan.turns; turn += 1) {
        for (const place of processes.keys()) {
          const { name, measured } = processes[
            (turn + place) % processes.length
          ] as (typeof processes)[number];
          costs.get(name)?.push(await measured.work(plan.turn(name)));
        }
        await plan.afterTurns?.();
      }
    } finally {
      for (const { measured } of processes) measured.stop();
    }
  }
  return costs;
}

/** Returns the median cost of one thing above another in the same turn, for each figure. */
export function medianAbove<Figure extends string>(
  costs: readonly Readonly<Record<Figure, number>>[],
  floors: readonly Readonly<Record<Figure, number>>[],
): Record<Figure, number> {
  const figures = Object.keys(costs[0] ?? {}) as Figure[];
  const above = (figure: Figure) =>
    costs.map((cost, turn) => cost[figure] - (floors[turn]?.[figure] ?? Number.NaN));
  return Object.fromEntries(
    figures.map((figure) => [figure, Number(median(above(figure)).toFixed(1))]),
  ) as Record<Figure, number>;
}
