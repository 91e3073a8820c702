import { processCoverage } from '../coverage.ts';
import { sessionOf } from '../session-id.ts';
import { currentRun, RunScope } from './run-scope.ts';

const strays = new WeakMap<object, RunScope>();

/**
 * Returns the run that a hook is called in. A run may have started before the SDK's classes were hooked, as in
 * `runner.run(actlog(agent))`, where the method is looked up first; its calls are still guarded.
 *
 * @param context - the run's context, which is the same object throughout the run
 */
export function runOf(context: object): RunScope {
  const current = currentRun();
  if (current) return current;
  const known = strays.get(context);
  if (known) return known;
  const stray = new RunScope({
    calls: processCoverage.current,
    sessionId: () => sessionOf({ input: undefined }),
    signal: new AbortController().signal,
  });
  strays.set(context, stray);
  return stray;
}
