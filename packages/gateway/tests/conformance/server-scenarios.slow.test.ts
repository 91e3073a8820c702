import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Ending, ListeningProcess } from '../connections.ts';
import { gatewayArgs } from '../gateway-program.ts';
import { testServer } from '../raw-gateway.ts';
import { TestService } from '../service.ts';
import { runConformanceSuite, verdictsOf } from './conformance-suite.ts';

/** Time for a run whose sessions each start a server, in milliseconds. */
const timeout = 180_000;

const guarded = ['--guard', 'enforce', '--on-unavailable', 'deny'];
const endings: Ending[] = [];
let service: TestService;
let serverUrl: string;
let direct: ReturnType<typeof verdictsOf>;

beforeAll(async () => {
  service = await TestService.start();
  const server = new ListeningProcess(conformanceServer('http'), service.environment());
  endings.push(server);
  serverUrl = (await server.url).href;
  direct = await serverVerdicts(serverUrl);
}, timeout);

afterAll(async () => {
  for (const one of endings.splice(0).reverse()) await one.end();
  await service.close();
});

/** Tools that the scenarios call, in their order, with the statuses of their events. */
const calls = [
  'test_simple_text 200',
  'test_image_content 200',
  'test_audio_content 200',
  'test_embedded_resource 200',
  'test_multiple_content_types 200',
  'test_tool_with_logging 200',
  'test_error_handling 500',
  'test_tool_with_progress 200',
  'test_sampling 200',
  'test_elicitation 200',
  'test_elicitation_sep1034_defaults 200',
  'test_reconnection 200',
  'test_elicitation_sep1330_enums 200',
];

/**
 * Scenarios with other results in front of a server over stdio. There the gateway is the HTTP server: a response of one
 * message is JSON, not a stream, and no stream ends before its result.
 */
const overStdio = {
  'server-sse-polling': {},
  'server-sse-multiple-streams': { 'server-accepts-multiple-post-streams': 'SUCCESS' },
};

test('passes every scenario directly', () => {
  expect(Object.keys(direct)).toHaveLength(32);
  const statuses = Object.values(direct).flatMap((verdicts) => Object.values(verdicts));
  expect(statuses).toHaveLength(47);
  expect(new Set(statuses)).toEqual(new Set(['SUCCESS']));
});

test.each([
  ['a server over HTTP', 'with the guard off', []],
  ['a server over HTTP', 'with the guard and a policy that allows', guarded],
  ['a server over stdio', 'with the guard off', []],
  ['a server over stdio', 'with the guard and a policy that allows', guarded],
])(
  'has the same results in front of %s, %s',
  async (kind, guard, options) => {
    const agent = `${kind} ${guard}`;
    const archive = await service.policy('allow', ['*'], { match: { tools: ['*'], agents: [agent] } });
    const gateway = await startGateway(kind, [...options, '--agent', agent]);
    const verdicts = await serverVerdicts(gateway.url);
    expect(verdicts).toEqual(kind === 'a server over stdio' ? { ...direct, ...overStdio } : direct);
    await gateway.end();
    const recorded = await service.calls(agent, calls.length);
    expect(recorded.map(({ toolName, status }) => `${toolName} ${status}`).sort()).toEqual([...calls].sort());
    await archive();
  },
  timeout,
);

test(
  'fails the scenario of a tool that a policy denies, and no other',
  async () => {
    const archive = await service.policy('deny', ['test_image_content'], {
      match: { tools: ['test_image_content'], agents: ['denied'] },
    });
    const gateway = await startGateway('a server over HTTP', [...guarded, '--agent', 'denied']);
    expect(await serverVerdicts(gateway.url)).toEqual({
      ...direct,
      'tools-call-image': { 'tools-call-image': 'FAILURE' },
    });
    await archive();
  },
  timeout,
);

function conformanceServer(transport: 'http' | 'stdio'): string[] {
  return testServer('conformance/conformance-server.ts', transport);
}

/** Starts a gateway for HTTP clients, in front of the conformance server. */
async function startGateway(kind: string, options: readonly string[]) {
  const server =
    kind === 'a server over stdio' ? ['--', ...conformanceServer('stdio')] : ['--url', serverUrl];
  const command = [process.execPath, ...gatewayArgs, '--listen', '0', ...options, ...server];
  const gateway = new ListeningProcess(command, service.environment());
  endings.push(gateway);
  return { url: (await gateway.url).href, end: () => gateway.end() };
}

async function serverVerdicts(url: string) {
  return verdictsOf(await runConformanceSuite(['server', '--url', url, '--suite', 'all']));
}
