import { expect } from 'vitest';
import { type AdapterCase, type CaseContext, suiteTools } from '../adapter-case.ts';
import type { Abilities } from '../harness.ts';
import { unreachableRecorder } from './guarding.ts';

/** Number of turns: more than any framework or adapter allows with only denials. */
const turnCount = 25;

/** Cases about a model that repeats a denied call: a denial must never make a run endless. */
export const retryingCases: readonly AdapterCase[] = [
  {
    name: 'ends the run of a model that always repeats a denied call',
    appliesTo: hasLoop,
    async check(context) {
      const { ran, ending } = await runRetries(context, context.service.guarded());
      expect(ran).toEqual([]);
      const events = await context.service.events(context.sessionId);
      expect(new Set(events.map(({ status }) => status))).toEqual(new Set([403]));
      expect(events.length).toBeLessThanOrEqual(maxDenialsOf(context));
      if (context.harness.abilities.goesOnAfterDenial) expect(events.length).toBeGreaterThan(1);
      expect(ending.toolResults.length).toBeLessThanOrEqual(maxDenialsOf(context));
    },
  },
  {
    name: 'ends the run of a model that always repeats a call while the service is down and calls are denied',
    appliesTo: hasLoop,
    async check(context) {
      const recorder = await unreachableRecorder(context.service, 'deny');
      const { ran, ending } = await runRetries(context, recorder);
      expect(ran).toEqual([]);
      expect(ending.toolResults.length).toBeLessThanOrEqual(maxDenialsOf(context));
    },
  },
];

function hasLoop({ guards, maxDenials }: Abilities): boolean {
  return guards && maxDenials !== 'caller';
}

function maxDenialsOf({ harness }: CaseContext): number {
  return Number(harness.abilities.maxDenials);
}

async function runRetries(
  { harness, sessionId }: CaseContext,
  recorder: ReturnType<CaseContext['service']['guarded']>,
) {
  const { all, ran } = suiteTools();
  const turn = [{ toolName: 'fail', arguments: { text: 'x' } }];
  const turns = Array.from({ length: turnCount }, () => turn);
  const scenario = { tools: all, turns, sessionId, adapter: { recorder }, keepsTurnLimit: true };
  return { ran, ending: await harness.run(scenario) };
}
