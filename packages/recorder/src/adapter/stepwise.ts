/**
 * Runs each step of a generator with a function, because a generator runs in the async context of whoever reads it. Ends
 * the generator in the same way if the reader stops early.
 *
 * @param inContext - runs a step
 */
export async function* stepwise<Item, Result>(
  generator: AsyncGenerator<Item, Result, undefined>,
  inContext: <Value>(step: () => Value) => Value,
): AsyncGenerator<Item, Result, undefined> {
  let isDone = false;
  try {
    let next = await inContext(() => generator.next());
    while (!next.done) {
      yield next.value;
      next = await inContext(() => generator.next());
    }
    isDone = true;
    return next.value;
  } finally {
    if (!isDone) await inContext(() => generator.return(undefined as never));
  }
}
