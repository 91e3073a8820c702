/** A place in a {@link LinkedList}; keeping it makes removal cost the same at any length. */
export interface ListNode<Value> {
  readonly value: Value;
  previous: ListNode<Value> | undefined;
  next: ListNode<Value> | undefined;
}

/** A doubly linked list: events leave a queue from its head when delivered, and from anywhere when dropped. */
export class LinkedList<Value> {
  #head: ListNode<Value> | undefined;
  #tail: ListNode<Value> | undefined;
  #length = 0;

  /** How many values stand in the list. */
  get length(): number {
    return this.#length;
  }

  /** The oldest value. */
  get first(): Value | undefined {
    return this.#head?.value;
  }

  /** Adds a value at the end and returns its place. */
  push(value: Value): ListNode<Value> {
    const node: ListNode<Value> = { value, previous: this.#tail, next: undefined };
    if (this.#tail) this.#tail.next = node;
    else this.#head = node;
    this.#tail = node;
    this.#length += 1;
    return node;
  }

  /** Takes a value out; its place must be one of this list. */
  remove(node: ListNode<Value>): void {
    if (node.previous) node.previous.next = node.next;
    else this.#head = node.next;
    if (node.next) node.next.previous = node.previous;
    else this.#tail = node.previous;
    node.previous = undefined;
    node.next = undefined;
    this.#length -= 1;
  }

  /** Oldest first. */
  *[Symbol.iterator](): Generator<Value> {
    for (let node = this.#head; node; node = node.next) yield node.value;
  }
}
