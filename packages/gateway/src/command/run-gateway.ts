import { sharedRecorder } from '@actlog/recorder';
import { showArgumentsOf } from '@actlog/recorder/adapter';
import { GatewayCalls } from '../calls/gateway-calls.ts';
import type { GatewayFlags, Misuse } from './gateway-flags.ts';
import { processSignals } from './process-signals.ts';
import { upstreamOf } from './upstream-flags.ts';

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
 * @returns the exit code: that of a server that this process started
 */
export async function runGateway(
  command: readonly string[],
  flags: GatewayFlags,
  misuse: Misuse,
): Promise<number> {
  const { agent, guard: mode, onUnavailable, holdSeconds, toolPrefix, showArguments, announce } = flags;
  const upstream =
    flags.url === undefined ? undefined : await upstreamOf(flags.url, flags.header ?? [], misuse);
  const recorder = sharedRecorder(mode || onUnavailable ? { guard: { mode, onUnavailable } } : {});
  const calls = new GatewayCalls({
    recorder,
    agentId: agent ?? (process.env.ACTLOG_AGENT_ID?.trim() || undefined),
    showArguments:
      showArguments === undefined ? undefined : showArgumentsOf(showArguments === true ? '*' : showArguments),
    toolPrefix,
    announces: announce,
    holdTimeoutMs: holdSeconds === undefined ? undefined : holdSeconds * 1000,
  });
  let exit: GatewayExit;
  try {
    exit = await runServer(command, flags, calls, upstream);
  } finally {
    await recorder.close({ timeoutMs: lastDeliveryMs });
  }
  // A signal that ended the server, or this process, has its usual effect.
  if (exit.signal) process.kill(process.pid, exit.signal);
  return exit.code ?? 0;
}

async function runServer(
  [command = '', ...args]: readonly string[],
  { listen, host, announce }: GatewayFlags,
  calls: GatewayCalls,
  upstream: Awaited<ReturnType<typeof upstreamOf>> | undefined,
): Promise<GatewayExit> {
  const { ACTLOG_API_KEY: _secret, ...withoutKey } = process.env;
  const child = { command, args, env: announce ? process.env : withoutKey };
  const stdio = { calls, input: process.stdin, output: process.stdout, signals: processSignals };
  if (listen !== undefined) {
    const { runHttpGateway } = await import('../http/http-gateway.ts');
    const listening = (url: string) => process.stderr.write(`Listening on ${url}\n`);
    const server = upstream ?? child;
    return {
      signal: await runHttpGateway({ host, port: listen, server, calls, signals: processSignals, listening }),
    };
  }
  if (upstream) {
    const { runStdioToHttp } = await import('../http/stdio-to-http.ts');
    return { signal: await runStdioToHttp({ ...stdio, upstream }) };
  }
  const { runStdioGateway } = await import('../stdio/stdio-gateway.ts');
  return runStdioGateway({ ...stdio, ...child });
}
