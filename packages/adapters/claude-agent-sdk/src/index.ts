/**
 * One line that records and guards every tool call of a Claude Agent SDK agent.
 *
 * @packageDocumentation
 */
export type { AdapterOptions as ActlogOptions } from '@actlog/recorder/adapter';
export { actlog } from './actlog.ts';
