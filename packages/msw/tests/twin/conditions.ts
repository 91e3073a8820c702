import { event } from './records.ts';
import { type Check, dry, get, patch, post, type Step } from './step.ts';

/** Returns requests about conditions on the history. */
export function history(check: Check, ids: readonly string[]): Step[] {
  const policy = (name: string, tool: string, condition: string, also: object = {}) =>
    post(
      '/v1/policies',
      { name, effect: 'deny', condition, match: { tools: [tool] }, ...also },
      { [`history_${name}`]: 'id' },
    );
  const inSession = (toolName: string, actionId?: string, shown?: object, sessionId = 'h') =>
    check(toolName, {
      sessionId,
      actionId,
      action: { toolName, argumentsHash: 'sha256:aa', ...(shown && { arguments: shown }) },
    });
  const end = (id: string | undefined, toolName: string, responseStatus: number) =>
    post('/v1/events', {
      ...event(id, 0, toolName, { sessionId: 'h' }),
      payload: { toolName, argumentsHash: 'sha256:aa', responseStatus },
    });
  return [
    policy('gate', 'h_refund', '!session.called("h_approve", {"order": args.order}, duration("1h"))'),
    policy('limit', 'h_drop', 'session.count("h_drop") >= 2'),
    policy(
      'budget',
      'h_buy',
      'session.sum("h_buy", "amount", duration("24h")) + double(args.amount) > 100.0',
    ),
    policy('mail', 'h_mail', 'session.untrusted()'),
    policy('first', 'h_new', 'agent.firstUse(action.toolName)', { effect: 'require_approval' }),
    policy('failed', 'h_last', 'session.failed("h_approve") || session.calledAfter("h_approve", "h_refund")'),
    policy('p', 'a', 'session.count(args.tool) > 1'),
    policy('p', 'a', 'session.count("a", duration("2d")) > 1'),
    policy('p', 'a', 'session.kount("a") > 1'),
    policy('p', 'a', 'args.list.exists(x, session.called("a"))'),
    inSession('h_refund', 'r1', { order: 1 }),
    inSession('h_approve', ids[10], { order: 1 }),
    inSession('h_refund', 'r2', { order: 1 }),
    end(ids[10], 'h_approve', 200),
    inSession('h_refund', 'r3', { order: 1 }),
    inSession('h_refund', 'r4', { order: 2 }),
    inSession('h_refund', 'r5', {}),
    inSession('h_last', 'l1'),
    inSession('h_approve', ids[11], { order: 2 }),
    end(ids[11], 'h_approve', 500),
    inSession('h_last', 'l2'),
    ...['d1', 'd1', 'd2', 'd3'].map((id) => inSession('h_drop', id)),
    { ...inSession('h_drop', 'd4'), ...dry },
    inSession('h_drop', 'd5', undefined, 'h2'),
    check('h_drop', { sessionId: undefined }),
    inSession('h_buy', 'b1', { amount: 60 }),
    inSession('h_buy', 'b2', { amount: 60 }),
    inSession('h_buy', 'b3', { amount: 40 }),
    inSession('h_mail', 'm1'),
    inSession('read_inbox', 'i1'),
    inSession('h_mail', 'm2'),
    inSession('h_new', 'n1'),
    // The session began before the policy.
    policy('late', 'h_late', 'session.started("h_never")'),
    inSession('h_late', 'x1'),
    // They would use up the budget of policies.
    ...['gate', 'limit', 'budget', 'mail', 'first', 'failed', 'late'].map(
      (name): Step => ({ method: 'DELETE', path: `/v1/policies/$history_${name}` }),
    ),
  ];
}

/** Returns requests about the origins of arguments. */
export function argumentOrigins(check: Check): Step[] {
  const invite = (origins?: object, actionId?: string) =>
    check('invite', { actionId, action: { toolName: 'invite', argumentsHash: 'sha256:aa', origins } });
  const fromText = { from: 'tool', as: 'text', toolName: 'read_inbox' };
  return [
    post('/v1/policies', {
      name: 'invite strangers',
      effect: 'require_approval',
      condition: 'origins.guest.from == "tool" && origins.guest.as == "text"',
      match: { tools: ['invite'] },
    }),
    post('/v1/policies', { name: 'p', effect: 'deny', condition: 'args.any("tool")' }),
    post('/v1/policies', { name: 'p', effect: 'deny', condition: 'origins.any("web")' }),
    invite({ guest: { from: 'user' } }),
    invite({ host: { from: 'user' } }, 'missing path'),
    invite(undefined, 'no origins'),
    invite({ guest: fromText }),
    invite({ guest: fromText, host: { from: 'model' } }),
    get('/v1/guardian/pending-actions?sessionId=g'),
    invite({ guest: { from: 'web' } }),
    invite({ guest: { from: 'user', as: 'text' } }),
    invite(Object.fromEntries(Array.from({ length: 65 }, (_, index) => [index, { from: 'user' }]))),
  ];
}

/** Returns requests about policies with schedules: one that includes every time, and one that includes no time of today. */
export function schedules(check: Check): Step[] {
  const names = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
  const other = names[(new Date().getUTCDay() + 3) % 7];
  const policy = (schedule: object) =>
    post('/v1/policies', { name: 'times', effect: 'deny', match: { tools: ['clock'] }, schedule });
  const archive: Step = { method: 'DELETE', path: '/v1/policies/$clock' };
  return [
    { ...policy({ timeZone: 'UTC', days: [other] }), keep: { clock: 'id' } },
    check('clock'),
    archive,
    {
      ...policy({ timeZone: 'Europe/Berlin', days: names.filter((day) => day !== other) }),
      keep: { clock: 'id' },
    },
    { ...check('clock'), headers: { prefer: 'dry-run' } },
    patch('/v1/policies/$clock', { condition: 'principal == "ada"' }),
    check('clock', { principal: 'grace' }),
    archive,
  ];
}
