/**
 * Records and guards the tools of coding agents by their hooks.
 *
 * @packageDocumentation
 */
export { type AgentName, agents, isAgentName } from './agents.ts';
export { type HookChange, installHook, removeHook } from './install/install-hook.ts';
export type { HookPlace, InstallHookOptions } from './install/install-hook-options.ts';
export { version } from './version.ts';
