import type { Fault, Passing, Returning } from '../faulty-proxy.ts';
import { has, letsIn } from './keys.ts';
import { isTo, type Mutant, type MutantKeys, refusal } from './mutant.ts';

/** Confuses the other tenant with this one on a route. */
function confuses(route: string) {
  return letsIn((passing, { other }) => isTo(route, passing) && has(passing, other));
}

/** Makes a change of the other tenant in this one, and responds as if there were no such record. */
function changesSecretly(route: string) {
  return (keys: MutantKeys) => ({
    response: (it: Returning, passing: Passing) => {
      if (isTo(route, passing) && it.status < 300 && isConfused(passing))
        Object.assign(it, refusal(404, 'NOT_FOUND'));
    },
    request: (passing: Passing) => {
      if (!isTo(route, passing) || !has(passing, keys.other)) return;
      passing.headers.authorization = `Bearer ${keys.own}`;
      passing.headers['x-confused'] = 'yes';
    },
  });
}

function isConfused({ headers }: Passing): boolean {
  return headers['x-confused'] === 'yes';
}

/** Faults of the isolation of tenants. */
export const tenantMutants: readonly Mutant[] = [
  {
    name: "another tenant's session is shown",
    caughtBy: ['SVC-02'],
    fault: confuses('GET /v1/sessions/:id'),
  },
  {
    name: "another tenant's export is shown",
    caughtBy: ['SVC-02'],
    fault: confuses('GET /v1/sessions/:id/export.json'),
  },
  { name: "another tenant's policies are listed", caughtBy: ['SVC-02'], fault: confuses('GET /v1/policies') },
  {
    name: "another tenant's agent is changed",
    caughtBy: ['SVC-02'],
    fault: confuses('PATCH /v1/agents/:id'),
  },
  {
    name: "another tenant's policy is archived",
    caughtBy: ['SVC-02'],
    fault: confuses('DELETE /v1/policies/:id'),
  },
  {
    name: "another tenant's held actions are listed",
    caughtBy: ['SVC-02'],
    options: { capabilities: ['reference-profile'] },
    fault: confuses('GET /v1/guardian/pending-actions'),
  },
  {
    name: "another tenant's held action is decided",
    caughtBy: ['SVC-02'],
    fault: changesSecretly('POST /v1/guardian/pending-actions/:id/decide'),
  },
  {
    name: "another tenant's policy is changed, and 404 returned",
    caughtBy: ['SVC-02'],
    fault: changesSecretly('PATCH /v1/policies/:id'),
  },
  {
    name: "another tenant's policy is archived, and 404 returned",
    caughtBy: ['SVC-02'],
    fault: changesSecretly('DELETE /v1/policies/:id'),
  },
  {
    name: 'policies apply to other tenants',
    caughtBy: ['SVC-02'],
    fault: appliesToOthers,
  },
  {
    name: 'webhooks of another tenant are listed',
    caughtBy: ['SVC-02'],
    fault: confuses('GET /v1/notification-channels'),
  },
  {
    name: 'a cursor of another tenant continues its list',
    caughtBy: ['SVC-02'],
    fault: letsIn((passing, { other }) => passing.query.has('cursor') && has(passing, other)),
  },
  { name: 'events land in any tenant', caughtBy: ['SVC-02'], fault: confuses('POST /v1/events') },
];

/** Holds the actions of the other tenant as if they were those of this one. */
function appliesToOthers({ own, other }: MutantKeys): Fault {
  const held: string[] = [];
  return {
    request: (passing) => {
      if (!isTo('POST /v1/policies/check', passing) || !has(passing, other)) return;
      if (passing.body.includes('agt_')) held.push(passing.body);
      passing.headers.authorization = `Bearer ${own}`;
    },
    response: (it, passing) => {
      if (!isTo('GET /v1/guardian/pending-actions', passing) || !has(passing, other)) return;
      const items = held.map((action, id) => ({ id: String(id), action }));
      it.body = JSON.stringify({ items, nextCursor: null });
    },
  };
}
