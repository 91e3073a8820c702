/** A score from 0 to 100 as a bar, in the colour of the level around it; the score stands beside it for who does not see it. */
export function Bar({ score }: { score: number }) {
  // Browsers draw a `meter` each in their own way.
  return (
    <svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect class="track" width={100} height={10} />
      <rect class="fill" width={Math.min(100, Math.max(0, score))} height={10} />
    </svg>
  );
}
