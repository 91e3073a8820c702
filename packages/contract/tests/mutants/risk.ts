import { type Document, documents, isTo, type Mutant, reply, responses } from './mutant.ts';

const faults: readonly (readonly [name: string, caughtBy: string, change: (risk: Document) => unknown])[] = [
  ['no score of the session', 'RSK-01', (it) => void delete it.score],
  ['a score of null', 'RSK-01', (it) => Object.assign(it, { score: null })],
  ['a score in words', 'RSK-01', (it) => Object.assign(it, { score: 'low' })],
  ['no recommendations', 'RSK-03', (it) => void delete it.recommendations],
  ['recommendations of null', 'RSK-03', (it) => Object.assign(it, { recommendations: null })],
  [
    'no factors',
    'RSK-03',
    (it) => {
      delete it.factors;
      for (const dimension of it.dimensions) delete dimension.factors;
    },
  ],
  ['eleven dimensions', 'RSK-02', (it) => void it.dimensions.push({ ...it.dimensions[0], id: 'ASI11' })],
  [
    'one dimension twice',
    'RSK-02',
    (it) => {
      it.dimensions[9] = it.dimensions[8];
    },
  ],
  [
    'ten dimensions with one name',
    'RSK-02',
    (it) => {
      it.dimensions = it.dimensions.map(({ id }: Document) => ({ ...it.dimensions[0], id }));
    },
  ],
  [
    'ten equal dimensions',
    'RSK-02',
    (it) => {
      it.dimensions = it.dimensions.map(() => ({ value: 0 }));
    },
  ],
  [
    'dimensions without scores',
    'RSK-02',
    (it) => {
      it.dimensions = it.dimensions.map(({ id, name }: Document) => ({ id, name }));
    },
  ],
  [
    'names of dimensions only',
    'RSK-02',
    (it) => {
      it.dimensions = it.dimensions.map(({ name }: Document) => name);
    },
  ],
];

/** Faults of the risk of a session. */
export const riskMutants: readonly Mutant[] = [
  ...faults.map(([name, caughtBy, change]) => ({
    name: `risk: ${name}`,
    caughtBy: [caughtBy],
    fault: documents('GET /v1/sessions/:id/risk', change),
  })),
  {
    name: 'risk: an empty response',
    caughtBy: ['RSK-01', 'RSK-02', 'RSK-03'],
    fault: documents('GET /v1/sessions/:id/risk', () => ({})),
  },
  {
    name: 'risk: of the session that was read first',
    caughtBy: ['END-04'],
    fault: () => {
      let first: string | undefined;
      return {
        response: (it, passing) => {
          if (isTo('GET /v1/sessions', passing) && it.status < 300)
            first ??= JSON.parse(it.body).items.find(({ id }: Document) => id.includes('-session-'))?.id;
          if (isTo('GET /v1/sessions/:id/risk', passing) && it.status < 300 && first !== undefined)
            it.body = JSON.stringify({ ...JSON.parse(it.body), sessionId: first });
        },
      };
    },
    options: { only: ['END-02', 'END-04'] },
  },
  {
    name: 'risk: of a session that does not exist',
    caughtBy: ['RES-01'],
    fault: () => ({
      response: (it, passing) => {
        if (it.status === 404 && isTo('GET /v1/sessions/:id/risk', passing))
          Object.assign(it, reply(200, { score: 0, dimensions: [], factors: [], recommendations: [] }));
      },
    }),
  },
  {
    name: 'risk: in HTML',
    caughtBy: ['END-22'],
    fault: responses('GET /v1/sessions/:id/risk', (it) => {
      it.headers['content-type'] = 'text/html';
    }),
  },
];
