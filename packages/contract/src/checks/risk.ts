import { type Check, check } from '../check.ts';
import { succeeded } from '../http/api-response.ts';
import { values } from '../http/json-search.ts';
import { fail, skip } from '../outcome.ts';
import type { Run } from '../run.ts';
import { dimensionsOf, explanationFault, hasScoreOfItsOwn, scoresOf } from '../world/risk-document.ts';

/** Returns the risk of the run's main session; skips if it cannot be read. */
async function riskOf(run: Run): Promise<unknown> {
  const { main } = await run.traffic.settled();
  const response = await run.probe.call('sessions.risk', { id: main.id });
  if (!succeeded(response) || response.json === undefined)
    skip('the risk of a session cannot be read (END-04)');
  return response.json;
}

/** Checks of a session's risk. Only its content is fixed, not the names of its fields. */
export const riskChecks: readonly Check[] = [
  check('RSK-01', 'a score of the session', async (run) => {
    if (!hasScoreOfItsOwn(await riskOf(run)))
      fail('the risk has no number, besides those of its dimensions, that could be the score of the session');
  }),
  check('RSK-02', 'ten of a kind', async (run) => {
    if (dimensionsOf(await riskOf(run)) === undefined)
      fail('the risk contains no list or object of ten different entries that could be its dimensions');
  }),
  check('RSK-02', 'scores of the dimensions', async (run) => {
    const dimensions = dimensionsOf(await riskOf(run)) ?? skip('the dimensions cannot be identified');
    if (scoresOf(dimensions).length === 0) fail('none of the ten dimensions has a number as its score');
  }),
  ...(['factors', 'recommendations'] as const).map((what) =>
    check('RSK-03', what, async (run) => {
      const fault = explanationFault(await riskOf(run), what);
      if (fault !== undefined) fail(fault);
    }),
  ),
  check('RSK-04', 'names of dimensions', async (run) => {
    const texts = [...values(await riskOf(run))].filter((value) => typeof value === 'string');
    const found = new Set(texts.filter((text) => /^(ASI|LLM|T|AGT?)\d{1,2}$/i.test(text)));
    return found.size > 0 ? [...found].sort().join(', ') : 'no ids of an OWASP list';
  }),
];
