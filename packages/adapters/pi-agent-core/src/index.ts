/**
 * One line that records and guards every tool call of an agent of pi-agent-core.
 *
 * @packageDocumentation
 */
export type { AdapterOptions as ActlogOptions } from '@actlog/recorder/adapter';
export { actlog } from './actlog.ts';
export type { PiAgent, PiTool } from './agent-runs.ts';
