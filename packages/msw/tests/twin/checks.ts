import { grants, severalApprovers, singleUse } from './approvals.ts';
import { argumentOrigins, history, schedules } from './conditions.ts';
import { dry, get, post, type Step } from './step.ts';

/** Returns requests to check actions and to decide held ones. */
export function checks(ids: readonly string[]): Step[] {
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
    ...singleUse(check),
    ...severalApprovers(checkApart),
    ...grants(checkApart),
    get('/v1/sessions/approvals'),
    ...argumentOrigins(check),
    ...history(check, ids),
    check('send_late', { actionId: 'late' }),
    post('/v1/policies', { name: 'late', effect: 'deny', match: { tools: ['send_late'] } }),
    check('send_late', { actionId: 'late' }),
    check('send_late', { actionId: 'late' }),
    get('/v1/sessions/g'),
    get('/v1/sessions/g/risk'),
  ];
}
