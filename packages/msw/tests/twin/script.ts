import { checks } from './checks.ts';
import { agents, sessions } from './records.ts';
import { get, patch, post, type Step } from './step.ts';

/** Returns requests to every endpoint, valid and invalid; `ids` are event ids. */
export function script(ids: readonly string[]): Step[] {
  return [...agents(), ...sessions(ids), ...policies(), ...checks(ids), ...channels(), ...wrong()];
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
