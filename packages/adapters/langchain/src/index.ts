/**
 * One line that records and guards every tool call of a LangChain or LangGraph agent.
 *
 * @packageDocumentation
 */
export { actlog } from './actlog.ts';
export type { ActlogOptions } from './langchain-calls.ts';
