import { withMethods } from '@actlog/recorder/adapter';
import type { McpSdkServerConfigWithInstance, McpServerConfig } from '@anthropic-ai/claude-agent-sdk';
import type { OpenCalls } from './open-calls.ts';

/** What Claude Code says with a call of a tool that runs in this process. */
const toolUseIdKey = 'claudecode/toolUseId';

/** A connection to a server in this process, as far as it is of interest here. */
interface Connection {
  onmessage?: (message: unknown, ...rest: unknown[]) => unknown;
}

/**
 * The same MCP servers; those that run in this process answer a call as a part of it, so that what their tools call
 * further in is known to belong to it.
 */
export function withCalls(
  servers: Record<string, McpServerConfig>,
  open: OpenCalls,
): Record<string, McpServerConfig> {
  return Object.fromEntries(
    Object.entries(servers).map(([name, config]) => [
      name,
      config.type === 'sdk' && 'instance' in config ? withInstance(config, open) : config,
    ]),
  );
}

function withInstance(config: McpSdkServerConfigWithInstance, open: OpenCalls): McpServerConfig {
  const connect = async (connection: Connection) => {
    await config.instance.connect(connection as never);
    const { onmessage } = connection;
    if (onmessage) connection.onmessage = within(onmessage.bind(connection), open);
  };
  return { ...config, instance: withMethods(config.instance, { connect }) };
}

function within(
  answer: (...args: unknown[]) => unknown,
  open: OpenCalls,
): NonNullable<Connection['onmessage']> {
  return (message, ...rest) => {
    const toolUseId = toolUseIdOf(message);
    const run = () => answer(message, ...rest);
    return toolUseId === undefined ? run() : open.step(toolUseId, run);
  };
}

function toolUseIdOf(message: unknown): string | undefined {
  const { params } = (message ?? {}) as { params?: { _meta?: Record<string, unknown> } };
  const toolUseId = params?._meta?.[toolUseIdKey];
  return typeof toolUseId === 'string' ? toolUseId : undefined;
}
