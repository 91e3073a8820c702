/** One request of the script. `$name` in a path or a body stands for a value of an earlier response. */
export interface Step {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  /** Raw body. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Fields of the response to remember, by name. */
  readonly keep?: Readonly<Record<string, string>>;
}

const get = (path: string, keep?: Step['keep']): Step => ({ method: 'GET', path, ...(keep && { keep }) });
const post = (path: string, body: unknown, keep?: Step['keep']): Step => ({
  method: 'POST',
  path,
  body,
  ...(keep && { keep }),
});
const patch = (path: string, body: unknown): Step => ({ method: 'PATCH', path, body });

/** Minute of a session's events; recent, so that no event counts as old. */
const startMs = Math.floor(Date.now() / 60_000) * 60_000 - 3_600_000;

/** Returns requests to every endpoint, valid and invalid; `ids` are event ids. */
export function script(ids: readonly string[]): Step[] {
  return [...agents(), ...sessions(ids), ...policies(), ...guardian(ids), ...channels(), ...wrong()];
}

function event(eventId: string | undefined, minute: number, toolName: string, also: object = {}): object {
  return {
    eventId,
    agentId: 'bot',
    sessionId: 'one',
    sourceTimestamp: new Date(startMs + minute * 60_000).toISOString(),
    category: 'tool_api',
    schemaVersion: '1.0',
    payload: { toolName, argumentsHash: `sha256:${toolName}`, responseStatus: 200 },
    ...also,
  };
}

function agents(): Step[] {
  return [
    post('/v1/agents', { id: 'bot', name: 'Bot', metadata: { a: 1, b: { c: 2 } } }),
    post('/v1/agents', { id: 'bot', name: 'Again' }),
    post('/v1/agents', { name: 'Made', owner: null }, { made: 'id' }),
    get('/v1/agents/$made'),
    get('/v1/agents/nobody'),
    patch('/v1/agents/bot', { metadata: { a: null, b: { d: 3 } }, version: '2' }),
    patch('/v1/agents/bot', { metadata: null }),
    patch('/v1/agents/bot', {}),
    patch('/v1/agents/bot', { id: 'other' }),
    patch('/v1/agents/$made', { status: 'revoked' }),
    get('/v1/agents?status=revoked'),
    get('/v1/agents/bot/sessions'),
    get('/v1/agents/nobody/sessions'),
  ];
}

function sessions(ids: readonly string[]): Step[] {
  const again = event(ids[0], 0, 'read_inbox');
  return [
    post('/v1/events', again),
    post('/v1/events', again),
    post('/v1/events', { ...again, eventId: String(ids[0]).toUpperCase() }),
    post('/v1/events', event(ids[0], 0, 'web_fetch')),
    post('/v1/events', event(ids[1], 2, 'web_fetch')),
    post('/v1/events', event(ids[2], 1, 'delete_file')),
    post('/v1/events', event(ids[3], -1, 'send_email', { agentId: 'stranger' })),
    post(
      '/v1/events',
      event(ids[4], 9, 'x', { category: 'note', schemaVersion: '2.0', payload: { b: 1, a: [2] } }),
    ),
    post(
      '/v1/events',
      event(ids[4], 9, 'x', { category: 'note', schemaVersion: '2.0', payload: { a: [2], b: 1 } }),
    ),
    post(
      '/v1/events',
      event(ids[5], 0, 'late', { sessionId: 'two', sourceTimestamp: '2020-01-01T00:00:00Z' }),
    ),
    post('/v1/events', event(ids[6], 200, 'early', { sessionId: 'two' })),
    post('/v1/events', event(ids[7], 3, 'x', { category: 'guardian_decision' })),
    post(
      '/v1/events',
      event(ids[9], 5, 'x', {
        category: 'argument_origins',
        payload: { eventId: ids[2], toolName: 'delete_file', origins: { path: { from: 'model' } } },
      }),
    ),
    post('/v1/events', event(ids[7], 3, 'x', { category: 'Guardian\u200b_decision\u00a0' })),
    patch('/v1/agents/stranger', { status: 'revoked' }),
    post('/v1/events', event(ids[8], 4, 'send_email', { agentId: 'stranger', sessionId: 'three' })),
    post('/v1/events', event('no-uuid', 3, 'x', { payload: { toolName: 1, extra: true } })),
    post('/v1/events', {}),
    get('/v1/sessions'),
    get('/v1/sessions?limit=1', { cursor: 'nextCursor' }),
    get('/v1/sessions?limit=1&cursor=$cursor'),
    get('/v1/sessions?limit=1&agentId=bot&cursor=$cursor'),
    get(`/v1/sessions?startedAfter=${new Date(startMs - 120_000).toISOString()}&agentId=stranger`),
    get('/v1/sessions?minRiskScore=1'),
    get('/v1/sessions?sort=riskScore'),
    get('/v1/sessions?sort=riskScore&limit=1', { risky: 'nextCursor' }),
    get('/v1/sessions?sort=riskScore&limit=1&cursor=$risky'),
    get('/v1/sessions?toolName=send_email'),
    get('/v1/sessions?level=low&idContains=O'),
    get('/v1/sessions?status=errors'),
    get('/v1/sessions?status=denied'),
    get('/v1/sessions?status=held&agentIdContains=BO'),
    get('/v1/sessions?status=failed&level=severe'),
    get('/v1/agents/stranger/sessions?toolName=send_email&sort=riskScore'),
    get('/v1/sessions/one'),
    get('/v1/sessions/one?limit=2', { more: 'nextCursor' }),
    get('/v1/sessions/one?limit=2&cursor=$more'),
    get('/v1/sessions/one/risk'),
    get('/v1/sessions/one/export.json'),
    get('/v1/agents/stranger'),
    get('/v1/agents/stranger/sessions'),
    post('/v1/agents', { id: 'stranger', name: 'Known now' }),
  ];
}

function policies(): Step[] {
  const approval = { timeoutSeconds: 60, onTimeout: 'allow' };
  return [
    post('/v1/policies', { name: 'p', effect: 'allow', match: { agents: ['nobody'] } }, { policy: 'id' }),
    post('/v1/policies', { name: 'p', effect: 'deny', approval }),
    post('/v1/policies', { name: 'p', effect: 'deny', condition: 'args.x.matches("a")' }),
    post('/v1/policies', { name: 'p', effect: 'deny', condition: '1 + 1' }),
    post('/v1/policies', { name: 'p', effect: 'deny', surprise: 1 }),
    patch('/v1/policies/$policy', { effect: 'require_approval', approval, priority: 5, description: 'd' }),
    patch('/v1/policies/$policy', { approval: { onTimeout: 'deny', timeoutSeconds: 61 }, description: null }),
    patch('/v1/policies/$policy', { match: { tools: ['a_*'], agents: ['a'] } }),
    patch('/v1/policies/$policy', { match: { tools: null } }),
    patch('/v1/policies/$policy', { approval: { timeoutSeconds: 90 } }),
    patch('/v1/policies/$policy', { rate: { max: 3 } }),
    patch('/v1/policies/$policy', { rate: { max: 3, windowSeconds: 60, per: 'agent' } }),
    patch('/v1/policies/$policy', { rate: { max: 4 } }),
    patch('/v1/policies/$policy', { rate: null }),
    patch('/v1/policies/$policy', { effect: 'allow' }),
    patch('/v1/policies/$policy', { name: null }),
    patch('/v1/policies/$policy', { schedule: { days: ['mon'] } }),
    patch('/v1/policies/$policy', { schedule: { timeZone: 'Mars/Olympus' } }),
    patch('/v1/policies/$policy', { schedule: { timeZone: 'UTC', from: '9:00' } }),
    patch('/v1/policies/$policy', { schedule: { timeZone: 'UTC', from: '09:00', to: '09:00' } }),
    patch('/v1/policies/$policy', { schedule: { timeZone: 'UTC', days: ['mon'], from: '09:00' } }),
    patch('/v1/policies/$policy', { schedule: { days: null, to: '24:00' } }),
    patch('/v1/policies/$policy', { schedule: null }),
    { method: 'DELETE', path: '/v1/policies/$policy' },
    { method: 'DELETE', path: '/v1/policies/$policy' },
    patch('/v1/policies/$policy', { name: 'q' }),
    get('/v1/policies?status=archived'),
    get('/v1/policies/nothing'),
  ];
}

function guardian(ids: readonly string[]): Step[] {
  const check = (toolName: string, also: object = {}, keep?: Step['keep']) =>
    post('/v1/policies/check', { agentId: 'bot', sessionId: 'g', action: action(toolName), ...also }, keep);
  const action = (toolName: string, shown?: object) => ({
    toolName,
    argumentsHash: 'sha256:aa',
    ...(shown && { arguments: shown }),
  });
  // A session of its own: the risk of one with many approvals depends on their pace.
  const checkApart = (toolName: string, also: object = {}, keep?: Step['keep']) =>
    check(toolName, { sessionId: 'approvals', ...also }, keep);
  const dry = { headers: { prefer: 'dry-run' } };
  const rate = { max: 1, windowSeconds: 3600, per: 'session' };
  const id = '/v1/guardian/pending-actions/$held/decide';
  return [
    post('/v1/policies', { name: 'log', effect: 'deny', mode: 'log_only' }),
    post('/v1/policies', {
      name: 'mail',
      effect: 'require_approval',
      match: { tools: ['send_*'] },
      message: 'm',
    }),
    post('/v1/policies', {
      name: 'big',
      effect: 'deny',
      condition: 'args.amount > 10',
      match: { tools: ['pay'] },
    }),
    post('/v1/policies', { name: 'often', effect: 'deny', rate, match: { tools: ['search'] } }),
    post('/v1/policies', {
      name: 'polls',
      effect: 'require_approval',
      rate: { ...rate, max: 0 },
      match: { tools: ['poll'] },
    }),
    ...schedules(check),
    check('read'),
    check('pay', { action: action('pay', { amount: 11 }) }),
    check('pay', { action: action('pay', { amount: 9 }) }),
    check('pay', { framework: 'f', environment: 'e' }),
    check('pay', { action: action('pay', { amount: 9, list: new Array(500).fill(0) }) }),
    { ...check('search', { actionId: 'first' }), ...dry },
    check('search', { actionId: 'first' }),
    check('search', { actionId: 'first' }),
    check('search', { actionId: 'second' }),
    { ...check('search', { actionId: 'third' }), ...dry },
    check('search', { sessionId: 'other' }),
    { ...check('send_mail', { actionId: 'mail' }), ...dry },
    check('send_mail', { actionId: 'mail' }, { held: 'pendingActionId' }),
    check('send_mail', { actionId: 'mail' }),
    check('send_text', { actionId: 'mail' }),
    { ...check('send_text', { actionId: 'mail' }), ...dry },
    { ...check('send_mail', { actionId: 'mail' }), ...dry },
    check('send_mail'),
    check('send_mail'),
    get('/v1/guardian/pending-actions?sessionId=g'),
    post(id, { decision: 'perhaps' }),
    post(id, { decision: 'approve', comment: 'c' }),
    post(id, { decision: 'approve' }),
    post(id, { decision: 'deny' }),
    check('send_mail', { actionId: 'mail' }),
    get('/v1/guardian/pending-actions?status=approved'),
    post('/v1/guardian/pending-actions/nothing/decide', { decision: 'deny' }),
    ...[1, 2, 3].map(() => check('poll')), // one action, held and counted once
    ...singleUse(check, dry),
    ...severalApprovers(checkApart),
    ...grants(checkApart, dry),
    get('/v1/sessions/approvals'),
    ...argumentOrigins(check),
    ...history(check, dry, ids),
    check('send_late', { actionId: 'late' }),
    post('/v1/policies', { name: 'late', effect: 'deny', match: { tools: ['send_late'] } }),
    check('send_late', { actionId: 'late' }),
    check('send_late', { actionId: 'late' }),
    get('/v1/sessions/g'),
    get('/v1/sessions/g/risk'),
  ];
}

/** Returns requests about conditions on the history. */
function history(
  check: (toolName: string, also?: object, keep?: Step['keep']) => Step,
  dry: Pick<Step, 'headers'>,
  ids: readonly string[],
): Step[] {
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
function argumentOrigins(check: (toolName: string, also?: object) => Step): Step[] {
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

/** Returns requests about single-use approvals. */
function singleUse(
  check: (toolName: string, also?: object, keep?: Step['keep']) => Step,
  dry: Pick<Step, 'headers'>,
): Step[] {
  const approve = (held: string) =>
    post(`/v1/guardian/pending-actions/$${held}/decide`, { decision: 'approve' });
  const wire = (actionId?: string, keep?: Step['keep']) => check('wire', { actionId }, keep);
  const approval = { timeoutSeconds: 60, onTimeout: 'deny' };
  return [
    // If two policies hold the action, the stricter one counts, even if the other decides.
    post('/v1/policies', {
      name: 'wire first',
      effect: 'require_approval',
      priority: 1,
      match: { tools: ['wire'] },
    }),
    post(
      '/v1/policies',
      { name: 'wire once', effect: 'require_approval', approval, match: { tools: ['wire'] } },
      { once: 'id' },
    ),
    patch('/v1/policies/$once', { approval: { singleUse: null } }),
    patch('/v1/policies/$once', { approval: { singleUse: 'yes' } }),
    patch('/v1/policies/$once', { approval: { singleUse: true } }),
    wire('once', { wired: 'pendingActionId' }),
    approve('wired'),
    { ...wire('once'), ...dry },
    get('/v1/guardian/pending-actions?status=approved'),
    wire('once'),
    wire('once'),
    { ...wire('once'), ...dry },
    wire('another', { wired: 'pendingActionId' }),
    // A check without an actionId waits for the same decision, and the first check uses it up.
    wire(),
    approve('wired'),
    wire('another'),
    wire(),
    get('/v1/guardian/pending-actions?status=approved'),
  ];
}

/** Returns requests about actions that need several approvers, or another approver than the requester. */
function severalApprovers(check: (toolName: string, also?: object, keep?: Step['keep']) => Step): Step[] {
  const decide = (body: object) => post('/v1/guardian/pending-actions/$pair/decide', body);
  const policy = (tool: string, rules: object) =>
    post('/v1/policies', {
      name: tool,
      effect: 'require_approval',
      approval: { timeoutSeconds: 60, onTimeout: 'deny', ...rules },
      match: { tools: [tool] },
    });
  const rules = { requiredApprovers: 2, approverKeys: ['key_a', 'key_b'] };
  return [
    policy('none', { requiredApprovers: 0 }),
    policy('none', { requiredApprovers: 2, approverKeys: ['key_a'] }),
    policy('pair', { requiredApprovers: 2 }),
    check('pair', { actionId: 'pair', principal: 'ada' }, { pair: 'pendingActionId' }),
    check('pair', { actionId: 'pair', principal: 'grace' }),
    check('pair', { actionId: 'pair' }),
    decide({ decision: 'approve', comment: 'first' }),
    decide({ decision: 'approve', comment: 'the same approver' }),
    check('pair', { actionId: 'pair', principal: 'ada' }),
    get('/v1/guardian/pending-actions?sessionId=approvals'),
    decide({ decision: 'deny', grant: { for: 'tool' } }),
    decide({ decision: 'deny' }),
    check('pair', { actionId: 'pair', principal: 'ada' }),
    policy('listed', rules),
    check('listed', { actionId: 'listed' }, { pair: 'pendingActionId' }),
    decide({ decision: 'approve' }),
    decide({ decision: 'deny' }),
    policy('other', { notRequester: true }),
    check('other', { actionId: 'other' }, { pair: 'pendingActionId' }),
    decide({ decision: 'approve' }),
    get('/v1/guardian/pending-actions?sessionId=approvals'),
  ];
}

/** Returns requests about policies with schedules: one that includes every time, and one that includes no time of today. */
function schedules(check: (toolName: string, also?: object, keep?: Step['keep']) => Step): Step[] {
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

/** Returns requests about grants for later actions. */
function grants(
  check: (toolName: string, also?: object, keep?: Step['keep']) => Step,
  dry: Pick<Step, 'headers'>,
): Step[] {
  const approve = (grant: object) =>
    post('/v1/guardian/pending-actions/$granted/decide', { decision: 'approve', grant });
  const ship = (argumentsHash: string, also: object = {}, keep?: Step['keep']) =>
    check('ship', { action: { toolName: 'ship', argumentsHash }, ...also }, keep);
  return [
    post(
      '/v1/policies',
      { name: 'ship', effect: 'require_approval', match: { tools: ['ship'] } },
      { ship: 'id' },
    ),
    ship('sha256:aa', { actionId: 'ship' }, { granted: 'pendingActionId' }),
    approve({ for: 'all' }),
    approve({ for: 'action', durationSeconds: 86_401 }),
    approve({ for: 'action', maxUses: 2 }),
    ship('sha256:bb', { actionId: 'another' }, { granted: 'pendingActionId' }),
    { ...ship('sha256:aa'), ...dry },
    ship('sha256:aa', { actionId: 'again' }),
    ship('sha256:aa', { actionId: 'again' }),
    ship('sha256:aa'),
    ship('sha256:aa'),
    ship('sha256:aa', { actionId: 'again' }),
    approve({ for: 'tool' }),
    ship('sha256:cc'),
    ship('sha256:cc', { sessionId: 'h' }),
    ship('sha256:cc', { principal: 'ada' }),
    patch('/v1/policies/$ship', { priority: 3 }),
    ship('sha256:cc'),
    check('wire', { actionId: 'granted' }, { granted: 'pendingActionId' }),
    approve({ for: 'tool' }),
    check('ship', { sessionId: undefined, actionId: 'alone' }, { granted: 'pendingActionId' }),
    approve({ for: 'tool' }),
  ];
}

function channels(): Step[] {
  return [
    post('/v1/notification-channels', { url: 'https://hook.invalid/a' }),
    post('/v1/notification-channels', {
      url: 'https://hook.invalid',
      kind: 'webhook',
      events: ['policy.matched'],
    }),
    post('/v1/notification-channels', { url: 'https://u:p@hook.invalid' }),
    post('/v1/notification-channels', { url: 'http://[::ffff:10.0.0.1]/' }),
    post('/v1/notification-channels', { url: 'http://localhost:3000/hook' }),
    post('/v1/notification-channels', { url: 'https://localhost./hook' }),
    post('/v1/notification-channels', { url: 'https://hook.invalid:8443/a' }),
    post('/v1/notification-channels', { url: 'http://hook.invalid:443/a' }),
    post('/v1/notification-channels', { url: 'ftp://hook.invalid' }),
    get('/v1/notification-channels'),
  ];
}

function wrong(): Step[] {
  const key = { 'idempotency-key': 'twin' };
  return [
    get('/v1/nothing'),
    get('/v1/sessions/'),
    patch('/v1/policies/', { name: 'n' }),
    get('/v1/events'),
    get('/v1/sessions?limit=0&unknown=1'),
    get('/v1/sessions?limit=1&limit=2'),
    get('/v1/agents?registered=perhaps'),
    get('/v1/agents?=1'),
    get('/v1/agents/%'),
    { method: 'DELETE', path: '/v1/agents/%' },
    get('/v1/nothing/%ED%A0%80'),
    { method: 'POST', path: '/v1/agents', text: '\uFEFF{"name":"n"}' },
    { method: 'POST', path: '/v1/agents', text: '{"name":"n"' },
    {
      method: 'POST',
      path: '/v1/policies/check',
      text: '{"agentId":"a","action":{"toolName":"t","argumentsHash":"h","arguments":{"__proto__":1}}}',
    },
    { ...post('/v1/agents', { name: 'once' }), headers: key },
    { ...post('/v1/agents', { name: 'once' }), headers: key },
    { ...post('/v1/agents', { name: 'twice' }), headers: key },
    { ...post('/v1/agents', { name: 'n' }), headers: { 'idempotency-key': 'a b' } },
    { ...get('/v1/agents'), headers: { authorization: 'Bearer al_test_wrong' } },
    { ...post('/v1/agents', { name: 'n' }), headers: { 'content-type': 'text/plain' } },
  ];
}
