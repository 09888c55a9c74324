// Bytes of one matrix by the rules of presets/README.md, written apart from the core as a second reading.
const ceil_div = (a, b) => Math.ceil(a / b);
const bits_to_bytes = (bits) => ceil_div(bits, 8);

function codes({ bits, word_bits = 8, pack_axis = 'in' }, out, columns) {
  const [lines, length] = pack_axis === 'in' ? [out, columns] : [columns, out];
  return (lines * ceil_div(length * bits, word_bits) * word_bits) / 8;
}

function zeros({ zero_bits = 0, word_bits = 8, group_size }, out, columns, groups) {
  if (zero_bits >= 8) return bits_to_bytes(groups * zero_bits);
  return (ceil_div(columns, group_size) * ceil_div(out * zero_bits, word_bits) * word_bits) / 8;
}

function groups(layout, out, columns) {
  const { group_size, flat, scale_bits, super_group, super_scale_bits } = layout;
  if (group_size === undefined) return 0;
  const count = flat ? ceil_div(out * columns, group_size) : out * ceil_div(columns, group_size);
  const super_scales = super_group === undefined ? 0 : bits_to_bytes(ceil_div(count, super_group) * super_scale_bits);
  return bits_to_bytes(count * scale_bits) + zeros(layout, out, columns, count) + super_scales;
}

function blocks({ block_rows, block_cols, scale_bits }, out, columns) {
  if (block_rows === undefined) return 0;
  return bits_to_bytes(ceil_div(out, block_rows) * ceil_div(columns, block_cols) * scale_bits);
}

export function weight_bytes(layout, out, columns) {
  const { per_row_bits = 0, per_column_bits = 0, per_tensor_bits = 0, codebook_bytes = 0 } = layout;
  return (
    codes(layout, out, columns) + groups(layout, out, columns) + blocks(layout, out, columns) +
    bits_to_bytes(out * per_row_bits) + bits_to_bytes(columns * per_column_bits) + bits_to_bytes(per_tensor_bits) + codebook_bytes
  );
}

export function gguf_bytes({ block_weights, block_bytes, row_bytes = 0 }, out, columns) {
  return out * (ceil_div(columns, block_weights) * block_bytes + row_bytes);
}
