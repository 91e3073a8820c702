/**
 * Node of a {@link LinkedList}, with which removal takes constant time. A class, because after a burst V8 allocates
 * object literals of the same code location in the old generation, where dead ones keep their references alive.
 */
export class ListNode<Value> {
  /** Undefined after removal. */
  value: Value | undefined;
  previous: ListNode<Value> | undefined;
  next: ListNode<Value> | undefined;

  constructor(value: Value, previous: ListNode<Value> | undefined) {
    this.value = value;
    this.previous = previous;
    this.next = undefined;
  }
}

/** Doubly linked list: events leave a queue at its head when delivered, and anywhere when dropped. */
export class LinkedList<Value> {
  #head: ListNode<Value> | undefined;
  #tail: ListNode<Value> | undefined;
  #length = 0;

  /** Number of values. */
  get length(): number {
    return this.#length;
  }

  /** The first value. */
  get first(): Value | undefined {
    return this.#head?.value;
  }

  /** Appends a value and returns its node. */
  push(value: Value): ListNode<Value> {
    const node = new ListNode(value, this.#tail);
    if (this.#tail) this.#tail.next = node;
    else this.#head = node;
    this.#tail = node;
    this.#length += 1;
    return node;
  }

  /** Removes a node, which must belong to this list. */
  remove(node: ListNode<Value>): void {
    if (node.previous) node.previous.next = node.next;
    else this.#head = node.next;
    if (node.next) node.next.previous = node.previous;
    else this.#tail = node.previous;
    node.value = undefined;
    node.previous = undefined;
    node.next = undefined;
    this.#length -= 1;
  }

  /** Iterates from the first to the last value. */
  *[Symbol.iterator](): Generator<Value> {
    for (let node = this.#head; node; node = node.next) yield node.value as Value;
  }
}

/**
 * Deletes the oldest entries of a map. Call it rarely and for many entries at once, because a map's iteration has to
 * skip all entries deleted before its first one.
 *
 * @param kept - number of entries that stay
 * @param onDropped - called with each deleted value
 */
export function dropOldest<Value>(
  map: Map<string, Value>,
  kept: number,
  onDropped?: (value: Value) => void,
): void {
  for (const [key, value] of map) {
    if (map.size <= kept) return;
    map.delete(key);
    onDropped?.(value);
  }
}
