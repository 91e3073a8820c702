import { readFileSync } from 'node:fs';
import type { Actlog } from '@actlog/client';
import { sharedRecorder } from '@actlog/recorder';
import { showArgumentsOf } from '@actlog/recorder/adapter';
import { GatewayCalls } from '../calls/gateway-calls.ts';
import type { Authorization } from '../http/authorization.ts';
import type { Upstream } from '../http/upstream.ts';
import type { SignalSource } from '../stdio/child-server.ts';
import type { ServerTools } from '../tools/server-tools.ts';
import { headersVariable } from '../wrap/server-entry.ts';
import type { GatewayFlags, Misuse } from './gateway-flags.ts';

/**
 * Runs the command with its options.
 *
 * @param misuse - reports a mistake in the arguments, and throws
 * @returns the exit code
 */
export async function runFlags(
  command: readonly string[],
  flags: GatewayFlags,
  misuse: Misuse,
): Promise<number> {
  const changes = [flags.wrap, flags.unwrap].filter((file) => file !== undefined).length;
  const servers = [command.length > 0, flags.url !== undefined].filter(Boolean).length;
  if (changes === 2) return misuse('--wrap and --unwrap exclude each other: pass one.');
  if (changes === 1 && servers > 0)
    return misuse('--wrap and --unwrap take no server: leave out its command and --url.');
  if (changes === 1) {
    const { changeConfiguration } = await import('../wrap/change-configuration.ts');
    return changeConfiguration(flags);
  }
  if (servers === 0)
    return misuse('The server is missing: pass its command after --, or its address with --url.');
  if (servers === 2) return misuse('A command and --url exclude each other: pass one server.');
  for (const name of ['server', 'print'] as const) {
    if (flags[name] !== undefined) return misuse(`--${name} belongs to --wrap or --unwrap.`);
  }
  return runGateway(command, flags, misuse);
}

/** Time for the delivery of the last events, in milliseconds. What is left is in the journal of the recorder. */
const lastDeliveryMs = 1000;

/** End of the gateway. */
interface GatewayExit {
  readonly code?: number | null;
  readonly signal?: NodeJS.Signals | null | undefined;
}

/**
 * Runs the gateway until its client or its server ends, or a signal ends it.
 *
 * @returns the exit code, which is the server's if this process started it
 */
async function runGateway(command: readonly string[], flags: GatewayFlags, misuse: Misuse): Promise<number> {
  const { agent, guard: mode, onUnavailable, holdSeconds, toolPrefix, showArguments, announce } = flags;
  const upstream =
    flags.url === undefined ? undefined : await upstreamOf(flags.url, flags.header ?? [], misuse);
  const { authorize: file, listen } = flags;
  if (file !== undefined && listen === undefined) return misuse('--authorize belongs to --listen.');
  const authorize =
    file === undefined ? undefined : await authorizationOf(file, flags, upstream?.url, misuse);
  const tools = await serverToolsOf(command, flags, upstream?.url);
  const recorder = sharedRecorder(mode || onUnavailable ? { guard: { mode, onUnavailable } } : {});
  const calls = new GatewayCalls({
    recorder,
    agentId: agent ?? (process.env.ACTLOG_AGENT_ID?.trim() || undefined),
    showArguments:
      showArguments === undefined ? undefined : showArgumentsOf(showArguments === true ? '*' : showArguments),
    toolPrefix,
    announces: announce,
    tools,
    hasPrincipals: authorize !== undefined,
    holdTimeoutMs: holdSeconds === undefined ? undefined : holdSeconds * 1000,
  });
  let exit: GatewayExit;
  try {
    exit = await runServer(command, flags, calls, upstream, authorize);
  } finally {
    tools.close();
    await recorder.close({ timeoutMs: lastDeliveryMs });
  }
  // A signal that ended the server, or this process, has its usual effect.
  if (exit.signal) process.kill(process.pid, exit.signal);
  return exit.code ?? 0;
}

/** Variable with the secret of the gateway at the authorization server of the upstream. */
const clientSecretVariable = 'ACTLOG_GATEWAY_CLIENT_SECRET';

/**
 * Returns what creates the authorization of `--authorize` for the address of the gateway.
 *
 * @param misuse - reports a mistake in the arguments, and throws
 * @throws Error that names the field, when a setting is invalid
 */
async function authorizationOf(
  file: string,
  { agent }: GatewayFlags,
  upstream: URL | undefined,
  misuse: Misuse,
): Promise<(address: URL) => Authorization> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return misuse(`--authorize must be a file that can be read, got ${file} (${code}).`);
  }
  const { Authorization, authorizationSettings } = await import('../http/authorization.ts');
  const { TokenExchange } = await import('../http/token-exchange.ts');
  const settings = authorizationSettings(text);
  if (settings.exchange && !upstream) return misuse('exchange in the file of --authorize belongs to --url.');
  const clientSecret = process.env[clientSecretVariable]?.trim() || undefined;
  const exchange =
    settings.exchange && upstream
      ? new TokenExchange({ settings: settings.exchange, clientSecret, upstream })
      : undefined;
  return (address) => {
    const resource = settings.resource === undefined ? address : new URL(settings.resource);
    const authorization = new Authorization({ settings, resource, exchange });
    if (agent === undefined || !authorization.namesAgents) return authorization;
    return misuse('--agent and "agents" of an issuer exclude each other: pass one.');
  };
}

/**
 * Returns the tools of the server with their pins.
 *
 * @throws PinFileError when the file of pins is damaged
 */
async function serverToolsOf(
  command: readonly string[],
  { guard, onChangedTool, pin, deniedTools, toolPrefix }: GatewayFlags,
  url: URL | undefined,
): Promise<ServerTools> {
  const { pinFileOf, PinFile, serverAt, serverOf } = await import('../tools/pin-file.ts');
  const { ServerTools } = await import('../tools/server-tools.ts');
  const server = url ? serverAt(url) : serverOf(command);
  const isEnforcing = (guard ?? process.env.ACTLOG_GUARD?.trim()) === 'enforce';
  const changed = onChangedTool ?? (isEnforcing ? 'hold' : 'allow');
  const shown = deniedTools ?? (isEnforcing ? 'hide' : 'list');
  const environment = process.env.ACTLOG_ENVIRONMENT?.trim() || undefined;
  const client = isEnforcing ? await serviceClient() : undefined;
  const { DefinitionApprovals } = await import('../tools/definition-approvals.ts');
  const { DeniedTools } = await import('../tools/denied-tools.ts');
  return new ServerTools({
    pins: pin === undefined ? pinFileOf(server) : new PinFile(pin, server),
    onChangedTool: changed,
    report: (text) => process.stderr.write(text),
    approvals: client && changed === 'hold' ? new DefinitionApprovals(client, environment) : undefined,
    denied:
      client && shown !== 'list'
        ? new DeniedTools({ client, environment, toolPrefix, keepsHidden: shown === 'keep-hidden' })
        : undefined,
  });
}

/** Returns a client of the service; undefined without its address and key, where nothing is recorded or guarded either. */
async function serviceClient(): Promise<Actlog | undefined> {
  const { ACTLOG_BASE_URL: baseURL, ACTLOG_API_KEY: apiKey } = process.env;
  if (!baseURL?.trim() || !apiKey?.trim()) return undefined;
  const { Actlog } = await import('@actlog/client');
  return new Actlog();
}

async function runServer(
  [command = '', ...args]: readonly string[],
  { listen, host, announce }: GatewayFlags,
  calls: GatewayCalls,
  upstream: Awaited<ReturnType<typeof upstreamOf>> | undefined,
  authorize: Awaited<ReturnType<typeof authorizationOf>> | undefined,
): Promise<GatewayExit> {
  const { [clientSecretVariable]: _secret, ...withKey } = process.env;
  const { ACTLOG_API_KEY: _key, ...withoutKey } = withKey;
  const child = { command, args, env: announce ? withKey : withoutKey };
  const stdio = { calls, input: process.stdin, output: process.stdout, signals: processSignals };
  if (listen !== undefined) {
    const { runHttpGateway } = await import('../http/http-gateway.ts');
    const listening = (url: string) => process.stderr.write(`Listening on ${url}\n`);
    const server = upstream ?? child;
    return {
      signal: await runHttpGateway({
        host,
        port: listen,
        server,
        calls,
        signals: processSignals,
        authorize,
        listening,
      }),
    };
  }
  const { runStdioGateway, runStdioToHttp } = await import('../stdio/stdio-gateway.ts');
  return upstream
    ? { signal: await runStdioToHttp(stdio, upstream) }
    : runStdioGateway({ ...stdio, ...child });
}

const ending = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Signals of this process that end it. */
const processSignals: SignalSource = {
  listen(listener) {
    for (const signal of ending) process.on(signal, listener);
    return () => {
      for (const signal of ending) process.off(signal, listener);
    };
  },
};

/**
 * Creates the upstream of `--url`, with the headers of `--header` and of the environment.
 *
 * @param misuse - reports a mistake in the arguments, and throws
 */
async function upstreamOf(url: string, headers: readonly string[], misuse: Misuse): Promise<Upstream> {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (!address || !/^https?:$/.test(address.protocol)) {
    return misuse('--url must be an address that starts with http:// or https://.');
  }
  const lines = [
    ...(process.env[headersVariable] ?? '').split('\n').filter((line) => line.trim()),
    ...headers,
  ];
  const fields = lines.map((line) => {
    const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):\s*(.*?)\s*$/.exec(line) ?? [];
    return name === undefined || value === undefined
      ? misuse('--header must be a name and a value, such as "Authorization: Bearer …".')
      : ([name.toLowerCase(), value] as const);
  });
  const { Upstream } = await import('../http/upstream.ts');
  return new Upstream(address, Object.fromEntries(fields));
}
