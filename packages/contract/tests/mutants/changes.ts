import { randomUUID } from 'node:crypto';
import type { Fault, Passing } from '../faulty-proxy.ts';
import { type Document, documents, isTo, type Mutant, reply, requests, responses } from './mutant.ts';

/** Remembers the first two ids that are created on a route. */
function remembersIds(route: string, ids: string[]): Fault {
  return responses(route, (it) => void ids.push(JSON.parse(it.body).id))();
}

/** Shows the same value in every record of a kind once one was changed. */
function changesAll(kind: 'agents' | 'policies'): () => Fault {
  return () => {
    let description: unknown;
    return {
      response: (it, passing) => {
        if (it.status >= 300) return;
        const document: Document = JSON.parse(it.body);
        if (isTo(`PATCH /v1/${kind}/:id`, passing)) description = document.description;
        if (isTo(`GET /v1/${kind}/:id`, passing) && description !== undefined)
          it.body = JSON.stringify({ ...document, description });
      },
    };
  };
}

/** Lists records as they were before they were changed. */
function listsOld(kind: 'agents' | 'policies'): () => Fault {
  return () => {
    const before = new Map<string, unknown>();
    return {
      response: (it, passing) => {
        if (it.status >= 300) return;
        const document: Document = JSON.parse(it.body);
        if (isTo(`PATCH /v1/${kind}/:id`, passing) && !before.has(document.id))
          before.set(document.id, document);
        if (isTo(`GET /v1/${kind}`, passing)) {
          document.items = document.items.map((one: Document) => before.get(one.id) ?? one);
          it.body = JSON.stringify(document);
        }
      },
    };
  };
}

/** Lists every record of a kind a second time, under another id. */
function createsTwo(route: string): () => Fault {
  return documents(route, (it) => {
    it.items = it.items.flatMap((one: Document) => [one, { ...one, id: `${one.id}-copy` }]);
  });
}

/** Returns the first record of a kind for every id. */
function readsFirst(kind: 'agents' | 'policies'): () => Fault {
  return () => {
    const ids: string[] = [];
    return {
      ...remembersIds(`POST /v1/${kind}`, ids),
      request: (passing: Passing) => {
        const isKnown = ids.some((id) => passing.path.endsWith(`/${id}`));
        if (isTo(`GET /v1/${kind}/:id`, passing) && isKnown) passing.path = `/v1/${kind}/${ids[0]}`;
      },
    };
  };
}

/** Responds to a creation with an id that does not exist. */
function storesNothing(route: string): () => Fault {
  return requests(route, ({ body }) =>
    body.length > 2 ? reply(201, { ...JSON.parse(body), id: randomUUID() }) : undefined,
  );
}

/** Accepts a body that is not JSON as if it were empty. */
function acceptsMalformed(route: string): () => Fault {
  return requests(route, ({ body }) =>
    body.startsWith('{"') && body.length > 2 ? undefined : reply(201, { id: randomUUID() }),
  );
}

const kinds = ['agents', 'policies'] as const;
const [get, patch, list] = [
  { agents: 'END-08', policies: 'END-13' },
  { agents: 'END-09', policies: 'END-14' },
  { agents: 'END-07', policies: 'END-12' },
] as const;

/** Faults of creating, changing and listing records. */
export const changeMutants: readonly Mutant[] = [
  ...kinds.flatMap((kind): Mutant[] => [
    { name: `${kind}: a change of one changes all`, caughtBy: [patch[kind]], fault: changesAll(kind) },
    { name: `${kind}: listed as they were`, caughtBy: [patch[kind]], fault: listsOld(kind) },
    { name: `${kind}: created twice`, caughtBy: [list[kind]], fault: createsTwo(`GET /v1/${kind}`) },
    {
      name: `${kind}: the first one read for all`,
      caughtBy: [get[kind], patch[kind]],
      fault: readsFirst(kind),
    },
    {
      name: `${kind}: created, but not stored`,
      caughtBy: [get[kind], list[kind]],
      fault: storesNothing(`POST /v1/${kind}`),
    },
    {
      name: `${kind}: an unknown one changed`,
      caughtBy: ['RES-01'],
      fault: requests(`PATCH /v1/${kind}/:id`, ({ path }) =>
        path.includes('-nothing-') ? reply(200, {}) : undefined,
      ),
    },
    {
      name: `${kind}: created of no JSON`,
      caughtBy: ['END-24'],
      fault: acceptsMalformed(`POST /v1/${kind}`),
    },
  ]),
  {
    name: 'webhooks: created twice',
    caughtBy: ['END-20'],
    fault: createsTwo('GET /v1/notification-channels'),
  },
  {
    name: 'webhooks: created, but not stored',
    caughtBy: ['END-20'],
    fault: storesNothing('POST /v1/notification-channels'),
  },
  {
    name: 'webhooks: created of no JSON',
    caughtBy: ['END-24'],
    fault: acceptsMalformed('POST /v1/notification-channels'),
  },
];
