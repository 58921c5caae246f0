// The loops over bytes. An instrumented run imports this file a second time, as `look.mjs?counts`: there COUNTS is true, and
// in the timed one a constant that V8 leaves out. Profiles of the two are apart, too.
//
// FNV-1a multiplies by 2^40 + 435. Its 64 bits are kept as two halves: `lo * 435` is made of two products of 16 bits, so that
// no intermediate number leaves the 32 bits that V8 keeps in a register.

export const COUNTS = new URL(import.meta.url).search === "?counts";

/** Bytes that were looked at. */
export const COUNTED = { bytes: 0 };

class Sum8 {
  sum = 0;

  answer() {
    return this.sum;
  }
}

class Fnv {
  hi = 0xcbf29ce4 | 0;
  lo = 0x84222325 | 0;

  /** Takes one byte more. */
  step(byte) {
    const lo = this.lo ^ byte;
    const low = (lo & 0xffff) * 435;
    const high = (lo >>> 16) * 435 + (low >>> 16);
    this.hi = (Math.imul(this.hi, 435) + (high >>> 16) + (lo << 8)) | 0;
    this.lo = (high << 16) | (low & 0xffff);
    return this;
  }

  answer() {
    return (BigInt(this.hi >>> 0) << 32n) | BigInt(this.lo >>> 0);
  }
}

/** What a sum is kept in, by mode. */
export const STATES = { sum8: Sum8, fnv: Fnv, none: Sum8 };

/** An index, and `for`. */
const byIndex = {
  sum8(state, bytes) {
    let sum = state.sum;
    for (let i = 0; i < bytes.length; i++) {
      if (COUNTS) COUNTED.bytes++;
      sum = (sum + bytes[i]) & 255;
    }
    state.sum = sum;
  },
  fnv(state, bytes) {
    let { hi, lo } = state;
    for (let i = 0; i < bytes.length; i++) {
      if (COUNTS) COUNTED.bytes++;
      lo ^= bytes[i];
      const low = (lo & 0xffff) * 435;
      const high = (lo >>> 16) * 435 + (low >>> 16);
      hi = (Math.imul(hi, 435) + (high >>> 16) + (lo << 8)) | 0;
      lo = (high << 16) | (low & 0xffff);
    }
    state.hi = hi;
    state.lo = lo;
  },
};

const forOf = {
  sum8(state, bytes) {
    let sum = state.sum;
    for (const byte of bytes) {
      if (COUNTS) COUNTED.bytes++;
      sum = (sum + byte) & 255;
    }
    state.sum = sum;
  },
  fnv(state, bytes) {
    let { hi, lo } = state;
    for (const byte of bytes) {
      if (COUNTS) COUNTED.bytes++;
      lo ^= byte;
      const low = (lo & 0xffff) * 435;
      const high = (lo >>> 16) * 435 + (low >>> 16);
      hi = (Math.imul(hi, 435) + (high >>> 16) + (lo << 8)) | 0;
      lo = (high << 16) | (low & 0xffff);
    }
    state.hi = hi;
    state.lo = lo;
  },
};

const reduce = {
  sum8(state, bytes) {
    state.sum = bytes.reduce((sum, byte) => {
      if (COUNTS) COUNTED.bytes++;
      return (sum + byte) & 255;
    }, state.sum);
  },
  fnv(state, bytes) {
    bytes.reduce((folded, byte) => {
      if (COUNTS) COUNTED.bytes++;
      return folded.step(byte);
    }, state);
  },
};

/** An async iterable of single bytes. */
const forAwait = {
  async sum8(state, bytes) {
    let sum = state.sum;
    for await (const byte of bytes) {
      if (COUNTS) COUNTED.bytes++;
      sum = (sum + byte) & 255;
    }
    state.sum = sum;
  },
  async fnv(state, bytes) {
    for await (const byte of bytes) {
      if (COUNTS) COUNTED.bytes++;
      state.step(byte);
    }
  },
};

/** Looks at no byte: the sum is their number. */
const none = {
  none(state, bytes) {
    if (COUNTS) COUNTED.bytes += bytes.length;
    state.sum += bytes.length;
  },
};

/** Ways of looking, by name and mode. */
export const MANNERS = { byIndex, forOf, reduce, forAwait, none };
