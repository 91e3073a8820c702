import { tagBits } from './tag.ts';
import { readToolName } from './tool-profile.ts';

const untrusted = tagBits('ingest_untrusted');

/** Returns `true` if a tool reads text that unknown authors may have written: it has the tag `ingest_untrusted`. */
export function readsUntrusted(toolName: string): boolean {
  return (readToolName(toolName).bits & untrusted) !== 0;
}
