%:define MEET __syncthreads()
__global__ void digraphs(float* y, int n) <%
  if (n > 3) <%
    y<:threadIdx.x:> = 1;
    MEET;
  %>
  if (threadIdx.x < 3) {
    y<:0:> = 2;
  }
%>
