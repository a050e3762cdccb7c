%:define MEET __syncthreads()
template <class T> struct Holder {};
using Held = Holder<::Holder<int>>;
__global__ void digraphs(float* y, int n) <%
  if (threadIdx.x < 3) <%
    y<:0:> = 1;
    MEET; //! DCU918
  %>
%>
