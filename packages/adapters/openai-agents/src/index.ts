/**
 * One line that records and guards every tool call of an agent of the OpenAI Agents SDK.
 *
 * @packageDocumentation
 */
export type { AdapterOptions as ActlogOptions } from '@actlog/recorder/adapter';
export { actlog } from './actlog.ts';
