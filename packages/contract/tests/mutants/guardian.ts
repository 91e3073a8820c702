import type { Fault, Passing, Returning } from '../faulty-proxy.ts';
import { type Document, documents, isTo, type Mutant, reply, requests } from './mutant.ts';

const pending = 'GET /v1/guardian/pending-actions';
const decide = 'POST /v1/guardian/pending-actions/:id/decide';
const toCheck = 'POST /v1/policies/check';
const archive = 'DELETE /v1/policies/:id';

/** Hides all pending actions, or others than the decided one, once an action was decided. */
function decidesAll(): Fault {
  let isDecided = false;
  return {
    response: (it, passing) => {
      if (it.status >= 300) return;
      if (isTo(decide, passing)) isDecided = true;
      if (isDecided && isTo(pending, passing)) it.body = '{"items":[],"nextCursor":null}';
    },
  };
}

/** Shows archived policies as archived, but leaves them active. */
function archivesInNameOnly(): Fault {
  const archived = new Set<string>();
  const shown = (policy: Document) =>
    archived.has(policy.id)
      ? { ...policy, status: 'archived', archivedAt: new Date().toISOString() }
      : policy;
  return {
    request: ({ method, path }) => {
      if (method !== 'DELETE' || path.includes('-nothing-')) return undefined;
      archived.add(path.split('/').pop() ?? '');
      return reply(200, { id: path.split('/').pop(), status: 'archived' });
    },
    response: (it, passing) => {
      if (it.status >= 300 || !passing.path.startsWith('/v1/policies') || passing.method !== 'GET') return;
      const document: Document = JSON.parse(it.body);
      it.body = JSON.stringify(
        document.items ? { ...document, items: document.items.map(shown) } : shown(document),
      );
    },
  };
}

/** Shows all policies as archived once one was. */
function archivesAll(): Fault {
  let isArchived = false;
  return {
    response: (it: Returning, passing: Passing) => {
      if (it.status >= 300) return;
      if (isTo(archive, passing)) isArchived = true;
      if (isArchived && isTo('GET /v1/policies/:id', passing))
        it.body = JSON.stringify({ ...JSON.parse(it.body), status: 'archived' });
    },
  };
}

/** Changes the agent of a check. */
function checksFor(agentOf: (agentId: string) => string): () => Fault {
  return requests(toCheck, (passing) => {
    if (!passing.body.startsWith('{"')) return;
    const body: Document = JSON.parse(passing.body);
    passing.body = JSON.stringify({ ...body, agentId: agentOf(body.agentId) });
  });
}

/** Faults of policies that take effect, and of decisions. */
export const guardianMutants: readonly Mutant[] = [
  {
    name: 'deciding does nothing',
    caughtBy: ['END-18'],
    fault: requests(decide, ({ path }) => (path.includes('-nothing-') ? undefined : reply(200, {}))),
  },
  { name: 'deciding one decides all', caughtBy: ['END-18'], fault: decidesAll },
  {
    name: 'an unknown action is decided',
    caughtBy: ['END-18'],
    fault: requests(decide, ({ path }) => (path.includes('-nothing-') ? reply(200, {}) : undefined)),
  },
  {
    name: 'no decision is accepted',
    caughtBy: ['END-18'],
    fault: requests(decide, () => reply(404, { error: { code: 'NOT_FOUND', message: 'None.' } })),
  },
  {
    name: 'checks ignore policies',
    caughtBy: ['END-17'],
    options: { capabilities: ['reference-profile'] },
    fault: checksFor(() => 'nobody'),
  },
  {
    name: 'no action is listed',
    caughtBy: ['END-17'],
    fault: documents(pending, (it) => {
      it.items = [];
    }),
  },
  {
    name: 'a check says the same of every action',
    caughtBy: ['END-16'],
    fault: documents(toCheck, () => ({ decision: 'allow' })),
  },
  {
    name: 'a policy holds the actions of all agents',
    caughtBy: ['END-16'],
    fault: requests('POST /v1/policies', (passing) => {
      if (!passing.body.includes('require_approval')) return;
      passing.body = passing.body.replace(/"agents":\[[^\]]*\]/, '"agents":["*"]');
    }),
  },
  {
    name: 'archiving leaves the policy active',
    caughtBy: ['END-15'],
    fault: requests(archive, ({ path }) => (path.includes('-nothing-') ? undefined : reply(200, {}))),
  },
  { name: 'an archived policy keeps its effect', caughtBy: ['END-15'], fault: archivesInNameOnly },
  { name: 'archiving one archives all', caughtBy: ['END-15'], fault: archivesAll },
  {
    name: 'checks are not JSON',
    caughtBy: ['END-22', 'END-16'],
    fault: () => ({
      response: (it, passing) => {
        if (isTo(toCheck, passing) && it.status < 300) it.body = 'allow';
      },
    }),
  },
];
