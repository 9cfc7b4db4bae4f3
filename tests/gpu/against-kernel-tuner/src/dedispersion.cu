// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ operation  dedispersion
//@ purpose    Radio signals summed over channels, each as late as its dispersion measure says
//@ size       dms 1..65536                 // dispersion measures
//@ size       length 1..1000000  // samples
//@ size       channels 1..16384
//@ type       sums f32
//@ type       input u8
//@ type       shifts f32
//@ operand    sums out: dms, length
//@ operand    input in: channels, length + dms; fill integers 0 255
//@ operand    shifts in: channels; fill uniform   // delay of a dispersion measure of 1, in samples
//@ right      sums exact                   // sums of at most 16384 bytes
//@ ragged     dms=1 length=1 channels=1
//@ ragged     dms=7 length=33 channels=5
//@ ragged     dms=130 length=300 channels=9
//@ flops      dms * length * channels
//@ reference  dedispersion_reference
//@   grid     ceil_div(length, 256), dms
//@   block    256
//@   args     sums.f64, input, shifts, dms, length, channels

// Reads the numbers themselves, not doubles: a delay is a rounded product, and must be the same.
__global__ void dedispersion_reference(double* sums, const unsigned char* input,
                                       const float* shifts, int dms, int samples, int channels) {
  const int sample = blockIdx.x * 256 + threadIdx.x;
  const int dm = blockIdx.y;
  if (sample >= samples) return;
  double sum = 0.0;
  for (int channel = 0; channel < channels; ++channel) {
    const int delay = static_cast<int>(shifts[channel] * dm);
    sum += input[channel * static_cast<size_t>(samples + dms) + sample + delay];
  }
  sums[dm * static_cast<size_t>(samples) + sample] = sum;
}
