import { type Check, check } from '../check.ts';
import { isObject, succeeded } from '../http/api-response.ts';
import { arrays, memberNames, objects, values } from '../http/json-search.ts';
import { fail, skip } from '../outcome.ts';
import type { Run } from '../run.ts';

const dimensionCount = 10;

/** Patterns for the names of factors and recommendations. */
const namesOf = {
  factors: /factor|reason|explan|evidence|contribut|finding|signal|driver|cause/i,
  recommendations: /recommend|advice|mitigat|remed|suggest|action|guidance|next_?step/i,
};

/** Returns the risk of the run's main session; skips if it cannot be read. */
async function riskOf(run: Run): Promise<unknown> {
  const { main } = await run.traffic.settled();
  const response = await run.probe.call('sessions.risk', { id: main.id });
  if (!succeeded(response) || response.json === undefined)
    skip('the risk of a session cannot be read (END-04)');
  return response.json;
}

/** `true` if a list has ten entries, or if an object has ten members of one type. */
function hasTen(risk: unknown): boolean {
  const isTen = arrays(risk).some(({ length }) => length === dimensionCount);
  return isTen || objects(risk).some((object) => hasTenAlike(Object.values(object)));
}

function hasTenAlike(members: readonly unknown[]): boolean {
  const numbers = members.filter((value) => typeof value === 'number');
  return numbers.length >= dimensionCount || members.filter(isObject).length >= dimensionCount;
}

/** Checks of a session's risk. Only its content is fixed, not the names of its fields. */
export const riskChecks: readonly Check[] = [
  check('RSK-01', 'a number', async (run) => {
    const risk = await riskOf(run);
    if (!values(risk).some((value) => typeof value === 'number'))
      fail('the risk contains no number that could be a score');
  }),
  check('RSK-02', 'ten of a kind', async (run) => {
    if (!hasTen(await riskOf(run)))
      fail('the risk contains no list or object of ten that could be its dimensions');
  }),
  ...(['factors', 'recommendations'] as const).map((what) =>
    check('RSK-03', what, async (run) => {
      const names = memberNames(await riskOf(run));
      if (!names.some((name) => namesOf[what].test(name))) {
        skip(
          `no member is named after ${what}; the specification leaves the name open, so this is not a failure`,
        );
      }
    }),
  ),
  check('RSK-04', 'names of dimensions', async (run) => {
    const texts = [...values(await riskOf(run))].filter((value) => typeof value === 'string');
    const found = new Set(texts.filter((text) => /^(ASI|LLM|T|AGT?)\d{1,2}$/i.test(text)));
    return found.size > 0 ? [...found].sort().join(', ') : 'no ids of an OWASP list';
  }),
];
