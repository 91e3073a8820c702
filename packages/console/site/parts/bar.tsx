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
