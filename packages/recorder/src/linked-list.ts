/**
 * A place in a {@link LinkedList}; keeping it makes removal cost the same at any length. A class, because V8 learns from
 * a burst that object literals of one place in the code live long, and puts all later ones into the old part of the
 * heap, where the dead keep what they point to.
 */
export class ListNode<Value> {
  /** Undefined once it was taken out. */
  value: Value | undefined;
  previous: ListNode<Value> | undefined;
  next: ListNode<Value> | undefined;

  constructor(value: Value, previous: ListNode<Value> | undefined) {
    this.value = value;
    this.previous = previous;
    this.next = undefined;
  }
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
    const node = new ListNode(value, this.#tail);
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
    node.value = undefined;
    node.previous = undefined;
    node.next = undefined;
    this.#length -= 1;
  }

  /** Oldest first. */
  *[Symbol.iterator](): Generator<Value> {
    for (let node = this.#head; node; node = node.next) yield node.value as Value;
  }
}
