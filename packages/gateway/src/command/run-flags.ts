import type { GatewayFlags, Misuse } from './gateway-flags.ts';
import { runGateway } from './run-gateway.ts';

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
    const { changeConfiguration } = await import('./change-configuration.ts');
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
