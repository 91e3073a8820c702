import type { IconNode } from 'lucide';
import { createElement } from 'preact';

/** Icon of the Lucide set. Decorative: the text next to it, or the name of its button, says the same. */
export function Icon({ of }: { of: IconNode }) {
  return (
    <svg
      class="icon"
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width={2}
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      {of.map(([tag, attributes], index) => createElement(tag, { ...attributes, key: index }))}
    </svg>
  );
}

/**
 * Score from 0 to 100 as a bar in the color of its level; decorative, because the score is shown next to it
 * as text.
 */
export function Bar({ score }: { score: number }) {
  // Browsers style `meter` differently.
  return (
    <svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect class="track" width={100} height={10} />
      <rect class="fill" width={Math.min(100, Math.max(0, score))} height={10} />
    </svg>
  );
}
