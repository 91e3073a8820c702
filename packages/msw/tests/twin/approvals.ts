import { type Check, dry, get, patch, post, type Step } from './step.ts';

/** Returns requests about single-use approvals. */
export function singleUse(check: Check): Step[] {
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
export function severalApprovers(check: Check): Step[] {
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

/** Returns requests about grants for later actions. */
export function grants(check: Check): Step[] {
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
