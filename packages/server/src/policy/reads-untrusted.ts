import { readToolName, tagBits } from '@actlog/risk';

const untrusted = tagBits('ingest_untrusted');

/** `true` if a tool reads text that unknown authors may have written, by the taxonomy of the risk engine. */
export function readsUntrusted(toolName: string): boolean {
  return (readToolName(toolName).bits & untrusted) !== 0;
}
